-- What a group traded in each bucket of a period, oldest first; a bucket without a trade has no row.
-- Needs wallets_by_group, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       piece AS (
       SELECT within.*
         FROM tracked
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     -- A bucket is open where it starts, and closed where it ends.
                     date_bin(%(bucket_seconds)s * interval '1 second', created_at - interval '1 microsecond', %(since)s)
                         + %(bucket_seconds)s * interval '1 second' AS ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
               GROUP BY wallet_id, ends_at) AS within
       ),
       summed AS (
       SELECT ends_at,
              count(*) AS wallets,
{ledger.sums: sum($) AS $}
         FROM piece
        GROUP BY ends_at
       )
SELECT ends_at,
       round_half_up(invested, 9) AS buy,
       traded.buy_usd,
       round_half_up(sold, 9) AS sell,
       traded.sell_usd,
       round_half_up(invested + sold, 9) AS volume,
       traded.volume_usd,
       (buy_txn + sell_txn)::bigint AS txn,
       wallets
  FROM summed
 CROSS JOIN latest
{traded_usd}
 ORDER BY ends_at
