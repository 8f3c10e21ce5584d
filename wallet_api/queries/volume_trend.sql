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
       )
SELECT ends_at,
       round_half_up(sum(invested), 9) AS buy,
       round_half_up(sum(sold), 9) AS sell,
       round_half_up(sum(invested) + sum(sold), 9) AS volume,
       -- A trade without a dollar value counts with the latest native price.
       round_half_up(dollars(sum(invested_usd + sold_usd), sum(invested_without_usd + sold_without_usd),
                             sum(buy_txn + sell_txn), sum(buys_without_usd + sells_without_usd), latest.usd), 4)
           AS volume_usd,
       sum(buy_txn + sell_txn)::bigint AS txn,
       count(*) AS wallets
  FROM piece
 CROSS JOIN latest
 GROUP BY ends_at, latest.usd
 ORDER BY ends_at
