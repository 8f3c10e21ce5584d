-- The keys of some hashes. Needs the unique index of key_hash.
SELECT key_id,
       key_hash,
       name,
       credits,
       rate,
       expires_at,
       revoked_at
  FROM api_keys
 WHERE key_hash = ANY(%(key_hashes)s::bytea[])
