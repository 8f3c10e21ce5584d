-- Delete the days of wallets that have no trade any more after some were taken out.

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
