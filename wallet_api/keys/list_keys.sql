-- All keys, by name. credits do not yet reflect the charges of the last 50 ms, which workers settle later.
  SELECT name,
         credits,
         rate,
         expires_at,
         revoked_at,
         created_at
    FROM api_keys
ORDER BY name COLLATE "C"
