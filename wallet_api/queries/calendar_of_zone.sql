-- The same in a time zone, from the trades: its days are no days of UTC, which alone are kept.
-- A token is new in its month on its first day there. Needs wallets_pkey, trades_by_time, native_prices_pkey.
  WITH
{latest_price},
       placed AS MATERIALIZED (
       SELECT trades.*,
              (created_at AT TIME ZONE %(timezone)s)::date AS day
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND created_at > %(since)s::timestamptz
          AND created_at <= %(newest)s::timestamptz
       ),
       first_of_month AS (
       SELECT first_day AS day,
              count(*) AS new_tokens
         FROM (SELECT min(day) AS first_day
                 FROM placed
                GROUP BY token_id, date_trunc('month', day::timestamp)) AS token
        GROUP BY first_day
       ),
       summed AS (
       SELECT day,
              count(DISTINCT token_id) AS tokens,
{ledger.sums}
         FROM placed
        GROUP BY day
       ),
       traded AS MATERIALIZED (
       SELECT summed.*,
              COALESCE(first_of_month.new_tokens, 0) AS new_tokens,
              date_trunc('month', summed.day::timestamp)::date AS starts_on
         FROM summed
         LEFT JOIN first_of_month
           ON first_of_month.day = summed.day
       ),
{calendar_months}
