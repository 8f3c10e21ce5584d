-- Add credits to a key. credits is NULL for an unlimited key; no row for an unknown name. Uses the unique index on name.
   UPDATE api_keys
      SET credits = credits + %(amount)s
    WHERE name = %(name)s
RETURNING credits
