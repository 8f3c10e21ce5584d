-- Add credits to a key unless it is revoked. credits is NULL for an unlimited key; no row for an unknown name. Uses the
-- unique index on name.
   UPDATE api_keys
      SET credits = CASE
                      WHEN revoked_at IS NULL
                      THEN credits + %(amount)s
                      ELSE credits
                    END
    WHERE name = %(name)s
RETURNING credits,
          revoked_at
