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
                     count(*) AS txn,
                     count(*) FILTER (WHERE value_usd IS NULL) AS unpriced_txn,
                     COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS bought,
                     COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
                     COALESCE(sum(value_usd), 0) AS volume_usd,
                     COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_volume
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
               GROUP BY wallet_id, ends_at) AS within
       )
SELECT ends_at,
       round_half_up(sum(bought), 9) AS buy,
       round_half_up(sum(sold), 9) AS sell,
       round_half_up(sum(bought) + sum(sold), 9) AS volume,
       -- A trade without a dollar value counts with the latest native price.
       round_half_up(dollars(sum(volume_usd), sum(unpriced_volume), sum(txn), sum(unpriced_txn), latest.usd), 4)
           AS volume_usd,
       sum(txn)::bigint AS txn,
       count(*) AS wallets
  FROM piece
 CROSS JOIN latest
 GROUP BY ends_at, latest.usd
 ORDER BY ends_at
