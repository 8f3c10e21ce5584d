-- Charge one call. No row when the balance does not cover it. Needs the primary key.
   UPDATE api_keys
      SET credits = credits - %(cost)s
    WHERE key_id = %(key_id)s
      AND credits >= %(cost)s
RETURNING credits
