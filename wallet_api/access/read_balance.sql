-- The balance of a key; NULL is unlimited. Needs api_keys_pkey.
SELECT balance(credits, monthly, credits_month) AS credits
  FROM api_keys
 WHERE key_id = %(key_id)s
