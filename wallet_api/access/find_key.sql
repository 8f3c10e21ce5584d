-- The key of a hash. Needs the unique index of key_hash.
SELECT key_id,
       key_hash,
       name,
       credits,
       rate,
       expires_at,
       revoked_at,
       created_at
  FROM api_keys
 WHERE key_hash = %(key_hash)s
