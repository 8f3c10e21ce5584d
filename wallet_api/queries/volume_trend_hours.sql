-- What a group traded in each bucket of hours of a span, or shorter ones, which end with multiples of `length` from the epoch on, and
-- with it; a bucket without a trade has no row. Whole hours are summed from wallet_hours, the parts beside them from the trades.
-- Needs wallets_by_group, wallet_hours_pkey, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       -- Read twice, as to count wallets among the sums would sort these.
       piece AS NOT MATERIALIZED (
       SELECT wallet_id,
              LEAST(date_bin(%(length)s::interval, starts_at, 'epoch') + %(length)s::interval,
                    %(until)s::timestamptz) AS ends_at,
{ledger.hours: $}
         FROM wallet_hours
        -- An array, so that the hours of each wallet are found by the key, and none of other groups is read.
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM tracked))
          AND starts_at >= %(first_hour)s
          AND starts_at < %(end_hour)s
        UNION ALL
       SELECT within.wallet_id,
              within.ends_at,
{ledger.hours: within.$}
         FROM tracked
        CROSS JOIN unnest(%(chart_starts)s::timestamptz[], %(chart_ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     LEAST(date_bin(%(length)s::interval, created_at, 'epoch') + %(length)s::interval,
                           %(until)s::timestamptz) AS ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY wallet_id, 2) AS within
       ),
       summed AS (
       SELECT *
         FROM (SELECT ends_at,
{ledger.hours: sum($) AS $}
                 FROM piece
                GROUP BY ends_at) AS total
         JOIN (SELECT ends_at,
                      count(*) AS wallets
                 FROM (SELECT DISTINCT wallet_id,
                              ends_at
                         FROM piece) AS active_wallet
                GROUP BY ends_at) AS active
        USING (ends_at)
       )
{volume_trend}
