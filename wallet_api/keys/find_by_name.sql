-- The key of a name: the one that is not revoked, else any that was. There are few keys, so all are read.
  SELECT key_id,
         revoked_at,
         expires_at
    FROM api_keys
   WHERE name = %(name)s
ORDER BY revoked_at IS NULL DESC
   LIMIT 1
