-- The wallets of a group that traded in a span, with its figures, in any order. For whole days, sums
-- are read from wallet_days, and profits by token from position_days, but of intraday positions; the rest is read from the trades.
-- Needs wallets_by_group, lifetimes_pkey, wallet_days_pkey, wallet_hours_pkey, several_days_by_wallet, and
-- what whole_days.sql, edge_trades.sql and board_entries.sql need.
  WITH
{group_wallets},
{whole_days},
       -- What each wallet did in each token in a part of a day.
       edge AS MATERIALIZED (
       SELECT (edge_span.ends_at AT TIME ZONE 'UTC')::date AS day,
              within.*
{edge_trades}
       ),
       -- Each day with a trade, of those at the edges the part in the span.
       daily AS MATERIALIZED (
       SELECT wallet_id,
              day,
{ledger.sums: $},
{ledger.intraday: $},
              intraday_best_token,
              intraday_best_trade
         FROM wallet_days
        -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM tracked))
          AND day >= %(first_day)s
          AND day < (SELECT end_day
                       FROM whole)
          AND buy_txn + sell_txn > 0
        UNION ALL
       SELECT wallet_id,
              day,
{ledger.sums: sum($)},
{ledger.intraday: 0},
              NULL,
              NULL
         FROM edge
        GROUP BY wallet_id, day
       ),
       summed AS (
       SELECT wallet_id,
              count(*) AS active_days,
{ledger.intraday: sum($) AS $},
              max(intraday_best_token) AS intraday_best_token,
              max(intraday_best_trade) AS intraday_best_trade,
{ledger.sums: sum($) AS $}
         FROM daily
        GROUP BY wallet_id
       ),
       fallen AS (
       SELECT wallet_id,
              max(peak - cumulated) AS max_drawdown
         FROM (SELECT wallet_id,
                      cumulated,
                      greatest(0, max(cumulated) OVER (PARTITION BY wallet_id ORDER BY day)) AS peak
                 FROM (SELECT wallet_id,
                              day,
                              sum(realized) OVER (PARTITION BY wallet_id ORDER BY day) AS cumulated
                         FROM daily) AS path) AS path
        GROUP BY wallet_id
       ),
       closed AS (
       SELECT wallet_id,
              profit_bucket(sum(realized), sum(realized_cost)) AS bucket,
              sum(realized) AS realized,
              sum(realized_cost) AS realized_cost,
              max(best_trade) AS best_trade
         FROM (SELECT wallet_id,
                      token_id,
                      realized,
                      realized_cost,
                      best_trade
                 FROM position_days
                WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                               FROM tracked))
                  AND day >= %(first_day)s
                  AND day < (SELECT end_day
                               FROM whole)
                  AND NOT is_intraday
                  AND covered_txn > 0
                UNION ALL
               SELECT wallet_id,
                      token_id,
                      realized,
                      realized_cost,
                      best_trade
                 FROM edge
                WHERE covered_txn > 0) AS piece
        GROUP BY wallet_id, token_id
       ),
       counted AS (
       SELECT wallet_id,
              max(best_trade) AS best_trade,
              sum(loss_of(realized, realized_cost)) FILTER (WHERE bucket = 0) AS losses,
              max(realized) AS best_token,
              count(*) FILTER (WHERE bucket = 0) AS below_zero,
              count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 3) AS above_500
         FROM closed
        GROUP BY wallet_id
       ),
       -- Steps of whole days end with days, those of hours have kept hours.
       sold AS (
       SELECT wallet_id,
              day::timestamp AT TIME ZONE 'UTC' AS moment,
              realized
         FROM daily
        WHERE %(step_seconds)s::bigint >= 86400
        UNION ALL
       SELECT wallet_id,
              starts_at,
              realized
         FROM wallet_hours
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM tracked))
          AND starts_at >= %(first_hour)s
          AND starts_at < %(end_hour)s
          AND %(step_seconds)s::bigint < 86400
          AND covered_txn > 0
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN unnest(%(chart_starts)s::timestamptz[], %(chart_ends)s::timestamptz[]) AS span (starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     date_bin(%(step_seconds)s::bigint * interval '1 second', created_at, 'epoch') AS moment,
                     sum(realized) AS realized
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
                 AND realized_cost IS NOT NULL
               GROUP BY wallet_id, moment) AS within
        WHERE %(step_seconds)s::bigint < 86400
       ),
{board_charts},
       record AS (
       SELECT summed.*,
              fallen.max_drawdown,
              charted.chart_places,
              charted.chart_profits,
              greatest(intraday_best_trade, best_trade) AS best_trade,
              intraday_losses + COALESCE(losses, 0) AS losses,
              greatest(intraday_best_token, best_token, 0) AS best_token,
              life.open_cost,
              life.open_cost_usd,
              life.open_without_usd,
              life.ever_invested,
              intraday_below_zero + COALESCE(below_zero, 0) AS below_zero,
              intraday_above_zero_to_100 + COALESCE(above_zero_to_100, 0) AS above_zero_to_100,
              intraday_above_100_to_500 + COALESCE(above_100_to_500, 0) AS above_100_to_500,
              intraday_above_500 + COALESCE(above_500, 0) AS above_500
         FROM summed
         JOIN (SELECT wallet_id,
                      open_cost,
                      open_cost_usd,
                      open_without_usd,
                      invested AS ever_invested
                 FROM lifetimes) AS life
           ON life.wallet_id = summed.wallet_id
         JOIN fallen
           ON fallen.wallet_id = summed.wallet_id
         LEFT JOIN charted
           ON charted.wallet_id = summed.wallet_id
         LEFT JOIN counted
           ON counted.wallet_id = summed.wallet_id
       ),
{board_entries}
