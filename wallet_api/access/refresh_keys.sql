-- Some keys. Needs api_keys_pkey, which is read faster than the index of hashes.
SELECT key_id,
       key_hash,
       name,
       balance(credits, monthly, credits_month) AS credits,
       rate,
       expires_at,
       revoked_at,
       created_at,
       previous_hash,
       previous_until
  FROM api_keys
 WHERE key_id = ANY(%(key_ids)s::bigint[])
