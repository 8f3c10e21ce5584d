-- Drop the buckets that corrections have emptied. Needs position_rollup_pkey.
DELETE FROM position_rollup
 USING (SELECT DISTINCT wallet_id FROM touched WHERE replay) AS changed
 WHERE position_rollup.wallet_id = changed.wallet_id
   AND position_rollup.buy_txn + position_rollup.sell_txn = 0
