-- What a group traded in each bucket of days or weeks of a span, which end with days counted from the epoch, and with it; a bucket without
-- a trade has no row. Whole days are summed from wallet_days, the parts beside them from the trades.
-- Needs wallets_by_group, wallet_days_pkey, trades_by_time, native_prices_pkey, and what whole_days.sql needs.
  WITH
{latest_price},
{group_wallets},
{whole_days},
       piece AS (
       SELECT wallet_id,
              LEAST(date_bin(%(length)s::interval, day::timestamp AT TIME ZONE 'UTC', 'epoch') + %(length)s::interval,
                    %(until)s::timestamptz) AS ends_at,
{ledger.sums: $}
         FROM wallet_days
        -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM tracked))
          AND day >= %(first_day)s
          AND day < (SELECT end_day
                       FROM whole)
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN edge_span
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     LEAST(date_bin(%(length)s::interval, created_at, 'epoch')
                           + %(length)s::interval, %(until)s::timestamptz) AS ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > edge_span.starts_at
                 AND created_at <= edge_span.ends_at
               GROUP BY wallet_id, 2) AS within
       ),
       summed AS (
       SELECT ends_at,
              count(DISTINCT wallet_id) AS wallets,
{ledger.sums: sum($) AS $}
         FROM piece
        GROUP BY ends_at
       )
{volume_trend}
