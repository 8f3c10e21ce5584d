-- The key of a hash. Needs the unique index of key_hash.
SELECT key_id,
       key_hash,
       credits,
       rate,
       expires_at,
       revoked_at,
       name
  FROM api_keys
 WHERE key_hash = %(key_hash)s
