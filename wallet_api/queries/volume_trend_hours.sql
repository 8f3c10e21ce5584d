-- What a group traded in each bucket of hours of a span, or shorter ones, which end with it and at each `length` before; a bucket
-- without a trade has no row. Needs wallets_by_group, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       piece AS (
       SELECT within.*
         FROM tracked
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     date_bin(%(length)s::interval, created_at - interval '1 microsecond', %(until)s::timestamptz) + %(length)s::interval
                         AS ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s::timestamptz
                 AND created_at <= %(until)s::timestamptz
               GROUP BY wallet_id, ends_at) AS within
       ),
       summed AS (
       SELECT ends_at,
              count(*) AS wallets,
{ledger.sums: sum($) AS $}
         FROM piece
        GROUP BY ends_at
       )
{volume_trend}
