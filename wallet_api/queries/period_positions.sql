-- For other statements to include, after their CTE tracked (wallet_id). It adds piece: what each of these wallets did in each token
-- in each part of a period, with the columns of ledger/sums.sql. The whole days of the period are read from position_days, its edges
-- from the trades.
-- Needs position_days_pkey, trades_by_time, and what whole_days.sql needs.
{whole_days},
       piece AS (
       SELECT wallet_id,
              token_id,
{ledger.sums: $}
         FROM position_days
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
                     token_id,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > edge_span.starts_at
                 AND created_at <= edge_span.ends_at
               GROUP BY wallet_id, token_id) AS within
       )
