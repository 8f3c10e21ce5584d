-- The balances of some keys; NULL is unlimited. Needs api_keys_pkey.
SELECT key_id,
       credits
  FROM api_keys
 WHERE key_id = ANY(%(key_ids)s::bigint[])
