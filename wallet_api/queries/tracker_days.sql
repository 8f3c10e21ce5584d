-- A wallet's record in a span of days: its sums in each token are those of position_days for whole days, and of its trades for the
-- parts beside them. Likewise its chart is drawn from wallet_days or, where its steps are shorter, from wallet_hours.
-- Needs position_days_pkey, wallet_days_pkey, wallet_hours_pkey, trades_by_time, and what tracker.sql needs.
  WITH piece AS (
       SELECT token_id,
{ledger.position_sums: $}
         FROM position_days
        WHERE wallet_id = %(wallet_id)s
          AND day >= %(first_day)s
          AND day < %(end_day)s
        UNION ALL
       SELECT within.*
         FROM unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT token_id,
{ledger.position_sums}
                FROM trades
               WHERE wallet_id = %(wallet_id)s
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY token_id) AS within
       ),
       summed AS (
       SELECT token_id,
{ledger.sums: sum($) AS $},
{ledger.highest: max($) AS $},
{ledger.lowest: min($) AS $}
         FROM piece
        GROUP BY token_id
       ),
       profit_part AS (
       SELECT day::timestamp AT TIME ZONE 'UTC' AS moment,
              realized,
              realized_usd
         FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
          AND %(by_days)s::boolean
          AND day >= %(first_day)s
          AND day < %(end_day)s
          AND covered_txn > 0
        UNION ALL
       SELECT starts_at,
              realized,
              realized_usd
         FROM wallet_hours
        WHERE wallet_id = %(wallet_id)s
          AND NOT %(by_days)s::boolean
          AND starts_at >= %(first_hour)s
          AND starts_at < %(end_hour)s
          AND covered_txn > 0
        UNION ALL
       SELECT within.*
         FROM unnest(%(chart_starts)s::timestamptz[], %(chart_ends)s::timestamptz[]) AS span (starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT created_at,
                     realized,
                     realized_usd
                FROM trades
               WHERE wallet_id = %(wallet_id)s
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
                 AND realized_cost IS NOT NULL
              -- OFFSET 0 is an optimization fence: no trade beside the spans is read.
              OFFSET 0) AS within
       ),
{tracker}
