-- Charge one request, if there is a limit. No row when the balance does not cover it. Needs api_keys_pkey.
UPDATE api_keys
   SET credits = balance(credits, monthly, credits_month) - %(cost)s,
       credits_month = this_month()
 WHERE key_id = %(key_id)s
   AND (balance(credits, monthly, credits_month) >= %(cost)s
        OR credits IS NULL)
RETURNING credits
