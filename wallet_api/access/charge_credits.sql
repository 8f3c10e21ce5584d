-- Charge one request, if there is a limit. No row when the balance does not cover it. Needs api_keys_pkey.
   UPDATE api_keys
      SET credits = credits - %(cost)s
    WHERE key_id = %(key_id)s
      AND (credits >= %(cost)s
           OR credits IS NULL)
RETURNING credits
