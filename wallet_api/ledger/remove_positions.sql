-- Remove the touched positions that have no trades. Needs positions_pkey, trades_pkey.
DELETE FROM positions
 USING touched
 WHERE positions.wallet_id = touched.wallet_id
   AND positions.token_id = touched.token_id
   AND NOT EXISTS (SELECT FROM trades
                    WHERE trades.wallet_id = positions.wallet_id
                      AND trades.token_id = positions.token_id)
