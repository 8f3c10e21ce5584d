-- Add the days of positions that were put in to those of tokens in their groups, and subtract those that were taken out.

-- token_days --
-- Sorted, so that two imports wait for each other in one order. Needs token_days_pkey.
INSERT INTO token_days AS total (
       day, token_id, type,
{token_days: $})
  WITH delta AS (
       SELECT day,
              token_id,
              type,
{token_days}
         FROM day_sums
         JOIN wallets
        USING (wallet_id)
        GROUP BY day, token_id, type
       )
SELECT *
  FROM delta
 WHERE 0 <> ANY (ARRAY[
{token_days: $}])
 ORDER BY day, token_id, type
    ON CONFLICT (day, token_id, type) DO UPDATE
   SET
{token_days: $ = total.$ + excluded.$};

-- empty_token_days --
-- Of whichever group: a join with the wallets would make Citus refuse it. Needs token_days_pkey.
DELETE FROM token_days
 USING (SELECT DISTINCT day,
               token_id
          FROM day_sums
         WHERE sign = -1) AS changed
 WHERE token_days.day = changed.day
   AND token_days.token_id = changed.token_id
   AND token_days.buy_txn + token_days.sell_txn = 0;
