-- Add credits to a key; NULL is unlimited and stays so. Needs api_keys_pkey.
   UPDATE api_keys
      SET credits = credits + %(amount)s
    WHERE key_id = %(key_id)s
      AND revoked_at IS NULL
RETURNING credits
