-- For other statements to include: what follows the CTE traded, a wallet's days with their sums, of which starts_on is the first
-- day of the month; `today` is that of its zone. Needs what traded.sql needs.
       month AS (
       SELECT generate_series(min(starts_on)::timestamp,
                              greatest(max(starts_on), (%(until)s::timestamptz AT TIME ZONE %(timezone)s)::date),
                              interval '1 month')::date AS starts_on
         FROM traded
       ),
       -- The sign of a profit is that of its first 30 decimals, since later digits may come from rounded quotients.
       -- Consecutive days of one sign have the same difference of their two numbers.
       numbered AS (
       SELECT starts_on,
              sign(round(realized, 30)) AS side,
              row_number() OVER (PARTITION BY starts_on ORDER BY day)
                  - row_number() OVER (PARTITION BY starts_on, sign(round(realized, 30)) ORDER BY day) AS streak
         FROM traded
        WHERE covered_txn > 0
       ),
       streak AS (
       SELECT starts_on,
              side,
              count(*) AS days
         FROM numbered
        GROUP BY starts_on, side, streak
       ),
       longest AS (
       SELECT starts_on,
              max(days) FILTER (WHERE side > 0) AS positive_streak,
              max(days) FILTER (WHERE side < 0) AS negative_streak
         FROM streak
        GROUP BY starts_on
       ),
       -- Days, and months with NULL as their day.
       sums AS (
       SELECT starts_on,
              day,
              tokens AS tokens_traded,
{ledger.sums: $}
         FROM traded
        UNION ALL
       SELECT month.starts_on,
              NULL,
              COALESCE(sum(new_tokens), 0),
{ledger.sums: COALESCE(sum($), 0)}
         FROM month
         LEFT JOIN traded
           ON traded.starts_on = month.starts_on
        GROUP BY month.starts_on
       ),
       shown AS (
       SELECT starts_on,
              day,
{profit},
{fees},
{calendar_sums}
         FROM sums
        CROSS JOIN latest
{traded_usd}
       ),
       dates AS (
       SELECT row_number() OVER (ORDER BY day) AS place,
              starts_on,
              to_char(day, 'YYYY-MM-DD') AS date,
              realized_pnl,
              realized_pnl_usd,
{fees: $},
{calendar_sums: $}
         FROM shown
        WHERE day IS NOT NULL
       ),
       months AS (
       SELECT row_number() OVER (ORDER BY shown.starts_on) AS place,
              shown.starts_on,
              extract(year FROM shown.starts_on)::integer AS month_year,
              extract(month FROM shown.starts_on)::integer AS month_month,
              realized_pnl AS month_realized_pnl,
              realized_pnl_usd AS month_realized_pnl_usd,
{fees: $ AS month_$},
{calendar_sums: $ AS month_$},
              COALESCE(positive_streak, 0) AS month_positive_streak,
              COALESCE(negative_streak, 0) AS month_negative_streak
         FROM shown
         LEFT JOIN longest
           ON longest.starts_on = shown.starts_on
        WHERE shown.day IS NULL
       ),
       head AS (
       SELECT 1 AS place,
{profile}
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
       )
{lists: months dates}
