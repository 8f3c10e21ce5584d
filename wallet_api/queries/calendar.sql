-- The months of a wallet, from its first trade to the present or to its newest trade, or in a window, with their days. Nothing is
-- rounded before it is shown. Needs wallets_pkey, wallet_days_pkey, position_days_pkey, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
       -- Days at the edges of a window, with the part in it.
       edge AS (
       SELECT within.*
         FROM unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT (span.ends_at AT TIME ZONE 'UTC')::date AS day,
                     token_id,
{ledger.sums}
                FROM trades
               WHERE wallet_id = %(wallet_id)s
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY token_id) AS within
       ),
       -- In months that are cut, a token is new on its first day in the window.
       token_first AS (
       SELECT min(day) AS day
         FROM (SELECT token_id,
                      day
                 FROM position_days
                WHERE wallet_id = %(wallet_id)s
                  AND day >= %(first_day)s::date
                  AND day < %(end_day)s::date
                  AND date_trunc('month', day::timestamp)::date = ANY (%(cut_months)s::date[])
                UNION ALL
               SELECT token_id,
                      day
                 FROM edge) AS seen
        GROUP BY token_id, date_trunc('month', day::timestamp)
       ),
       new_token AS (
       SELECT day,
              count(*) AS tokens
         FROM token_first
        GROUP BY day
       ),
       piece AS (
       SELECT day,
              tokens,
              new_tokens,
{ledger.sums: $}
         FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
          AND day >= %(first_day)s::date
          AND day < %(end_day)s::date
        UNION ALL
       SELECT day,
              count(*),
              0,
{ledger.sums: sum($)}
         FROM edge
        GROUP BY day
       ),
       traded AS MATERIALIZED (
       SELECT piece.day,
              piece.tokens,
              CASE WHEN month.starts_on = ANY (%(cut_months)s::date[]) THEN COALESCE(new_token.tokens, 0)
                   ELSE piece.new_tokens
              END AS new_tokens,
              month.starts_on,
{ledger.sums: piece.$}
         FROM piece
        CROSS JOIN LATERAL (SELECT date_trunc('month', piece.day::timestamp)::date AS starts_on) AS month
         LEFT JOIN new_token
           ON new_token.day = piece.day
       ),
{calendar_months}
