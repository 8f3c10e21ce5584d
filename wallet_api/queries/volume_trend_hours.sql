-- What a group traded in each bucket of hours of a span, or shorter ones, which end with it and at each `length` before; a bucket
-- without a trade has no row. With `by_hours` an hour that is in one bucket is read from wallet_hours, and the trades of the others
-- alone; else all trades.
-- Needs wallets_by_group, wallet_hours_pkey, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       -- A bucket has its end, and not its start: date_bin counts both a microsecond earlier.
       hour AS NOT MATERIALIZED (
       SELECT kept.*,
              date_bin(%(length)s::interval, starts_after, %(until)s::timestamptz) + %(length)s::interval AS bucket_ends_at,
              starts_after >= %(since)s::timestamptz
              AND ends_at <= %(until)s::timestamptz
              AND date_bin(%(length)s::interval, starts_after, %(until)s::timestamptz)
                  = date_bin(%(length)s::interval, ends_at - interval '1 microsecond', %(until)s::timestamptz) AS is_whole
         FROM (SELECT wallet_id,
                      starts_at - interval '1 microsecond' AS starts_after,
                      starts_at + interval '1 hour' - interval '1 microsecond' AS ends_at,
{ledger.hours: $}
                 FROM wallet_hours
                -- An array, so that the hours of each wallet are found by the key, and none of other groups is read.
                WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                               FROM tracked))
                  AND starts_at > %(since)s::timestamptz - interval '1 hour'
                  AND starts_at <= %(until)s::timestamptz
                  AND %(by_hours)s::boolean) AS kept
       ),
       part AS MATERIALIZED (
       SELECT wallet_id,
              GREATEST(starts_after, %(since)s::timestamptz) AS starts_after,
              LEAST(ends_at, %(until)s::timestamptz) AS ends_at
         FROM hour
        WHERE NOT is_whole
        UNION ALL
       SELECT wallet_id,
              %(since)s::timestamptz,
              %(until)s::timestamptz
         FROM tracked
        WHERE NOT %(by_hours)s::boolean
       ),
       read_trades AS MATERIALIZED (
       SELECT within.wallet_id,
              within.bucket_ends_at,
{ledger.hours: within.$}
         FROM part
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     date_bin(%(length)s::interval, created_at - interval '1 microsecond', %(until)s::timestamptz) + %(length)s::interval
                         AS bucket_ends_at,
{ledger.sums}
                FROM trades
               WHERE wallet_id = part.wallet_id
                 AND created_at > part.starts_after
                 AND created_at <= part.ends_at
               GROUP BY wallet_id, bucket_ends_at) AS within
       ),
       total AS (
       SELECT bucket_ends_at,
{ledger.hours: sum($) AS $}
         FROM (SELECT bucket_ends_at,
{ledger.hours: $}
                 FROM hour
                WHERE is_whole
                UNION ALL
               SELECT bucket_ends_at,
{ledger.hours: $}
                 FROM read_trades) AS piece
        GROUP BY bucket_ends_at
       ),
       active AS (
       SELECT bucket_ends_at,
              count(*) AS wallets
         FROM (SELECT wallet_id,
                      bucket_ends_at
                 FROM hour
                WHERE is_whole
                UNION
               SELECT wallet_id,
                      bucket_ends_at
                 FROM read_trades) AS active_wallet
        GROUP BY bucket_ends_at
       ),
       summed AS (
       SELECT bucket_ends_at AS ends_at,
              wallets,
{ledger.hours: $}
         FROM total
         JOIN active
        USING (bucket_ends_at)
       )
{volume_trend}
