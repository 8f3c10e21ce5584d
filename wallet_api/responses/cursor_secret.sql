-- The secret of cursors: one row.
SELECT secret
  FROM cursor_secret
