-- All keys, by name. What workers have charged in the last 50 ms may still be in credits.
  SELECT name,
         credits,
         rate,
         expires_at,
         revoked_at,
         created_at
    FROM api_keys
ORDER BY name COLLATE "C"
