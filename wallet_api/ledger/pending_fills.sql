-- The fills that are not finished.
SELECT name
  FROM pending_fills
