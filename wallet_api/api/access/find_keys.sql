-- Some keys, or the key of a hash, of its secret or the one before. Needs api_keys_pkey, api_keys_key_hash_key,
-- api_keys_previous_hash_key.
SELECT key_id,
       key_hash,
       name,
       balance(credits, monthly, credits_month) AS credits,
       rate,
       expires_at,
       revoked_at,
       created_at,
       previous_hash,
       previous_until,
       monthly,
       chains,
       types,
       operations
  FROM api_keys
 WHERE key_id = ANY(%(key_ids)s::bigint[])
    OR key_hash = %(key_hash)s
    OR previous_hash = %(key_hash)s
