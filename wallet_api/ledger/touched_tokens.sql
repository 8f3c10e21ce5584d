-- The tokens of the touched positions, whose newest trades may have changed. None while trades_by_token is still to be
-- built: the fill does all tokens after that.
SELECT DISTINCT token_id
  FROM touched
 WHERE EXISTS (SELECT FROM pg_index
                WHERE indexrelid = to_regclass('public.trades_by_token')
                  AND indisvalid)
