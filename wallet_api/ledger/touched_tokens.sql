-- The tokens of the touched positions, whose newest trades may have changed.
SELECT DISTINCT token_id
  FROM touched
