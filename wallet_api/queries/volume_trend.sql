-- What a group traded in each bucket of a span, oldest first; a bucket without a trade has no row. Buckets end at multiples of their
-- length from `origin`, each with this instant, and with the span. Those of days are summed from wallet_days, all else from trades.
-- Needs wallets_by_group, wallet_days_pkey, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       step AS (
       SELECT %(bucket_seconds)s * interval '1 second' AS length
       ),
       piece AS (
       SELECT wallet_days.wallet_id,
              LEAST(date_bin(step.length, day::timestamp AT TIME ZONE 'UTC', %(origin)s::timestamptz) + step.length,
                    %(until)s::timestamptz) AS ends_at,
{ledger.sums: $}
         FROM tracked
        CROSS JOIN step
         JOIN wallet_days
           ON wallet_days.wallet_id = tracked.wallet_id
          AND wallet_days.day >= %(first_day)s
          AND wallet_days.day < %(end_day)s
        WHERE %(by_days)s::boolean
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN step
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     LEAST(date_bin(step.length, created_at - interval '1 microsecond', %(origin)s::timestamptz) + step.length,
                           %(until)s::timestamptz) AS ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY wallet_id, 2) AS within
       ),
       summed AS (
       SELECT ends_at,
              count(DISTINCT wallet_id) AS wallets,
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
