-- All keys, by name. leased is what workers hold, give or take what they spent in the last tenths of a second;
-- it is no longer in credits.
  SELECT name,
         credits,
         COALESCE((SELECT sum(amount - spent)
                     FROM credit_leases
                    WHERE credit_leases.key_id = api_keys.key_id), 0)::bigint AS leased,
         rate,
         expires_at,
         revoked_at,
         created_at
    FROM api_keys
ORDER BY name COLLATE "C"
