-- The balance of a key. Needs the primary key.
SELECT credits
  FROM api_keys
 WHERE key_id = %(key_id)s
