-- Add credits. credits stays NULL for a key without a limit; no row when there is no such key.
   UPDATE api_keys
      SET credits = credits + %(amount)s
    WHERE name = %(name)s
RETURNING credits
