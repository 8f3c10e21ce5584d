-- Delete the days that have no trade any more after some were taken out.

-- position_days --
-- Needs position_days_pkey.
DELETE FROM position_days
 USING (SELECT DISTINCT wallet_id,
               token_id,
               day
          FROM day_sums
         WHERE sign = -1) AS changed
 WHERE position_days.wallet_id = changed.wallet_id
   AND position_days.day = changed.day
   AND position_days.token_id = changed.token_id
   AND position_days.buy_txn + position_days.sell_txn = 0;

-- wallet_days --
-- Needs wallet_days_pkey.
DELETE FROM wallet_days
 USING (SELECT DISTINCT wallet_id,
               day
          FROM day_sums
         WHERE sign = -1) AS changed
 WHERE wallet_days.wallet_id = changed.wallet_id
   AND wallet_days.day = changed.day
   AND wallet_days.buy_txn + wallet_days.sell_txn = 0
