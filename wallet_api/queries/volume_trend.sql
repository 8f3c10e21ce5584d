-- For the statements of trends to end with, after their CTEs latest and summed (ends_at, wallets, and the columns of
-- ledger/sums.sql): what a group traded in each bucket, oldest first. Needs what traded_usd.sql needs.
SELECT ends_at,
{bought_and_sold},
       round_half_up(invested + sold, 9) AS volume,
       traded.volume_usd,
       (buy_txn + sell_txn)::bigint AS txn,
       wallets
  FROM summed
 CROSS JOIN latest
{traded_usd}
 ORDER BY ends_at
