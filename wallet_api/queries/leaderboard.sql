-- The wallets of a group that traded in a period, with the period's figures, in any order. For whole days, sums
-- are read from wallet_days, and buckets of profit from position_days; the rest is read from the trades.
-- Needs wallets_by_group, wallet_days_pkey, position_days_pkey, trades_by_time, native_prices_pkey.
  WITH tracked AS MATERIALIZED (
       SELECT wallet_id,
              address,
              name,
              image_url,
              twitter
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
       ),
       piece AS (
       SELECT wallet_days.wallet_id,
              buy_txn,
              sell_txn,
              covered_txn,
              buys_without_usd + sells_without_usd AS unpriced_txn,
              covered_without_usd AS unpriced_sell_txn,
              sold,
              bought + sold AS volume,
              bought_usd + sold_usd AS volume_usd,
              bought_without_usd + sold_without_usd AS unpriced_volume,
              realized,
              realized_cost,
              realized_usd,
              hold_seconds,
              hold_cost
         FROM tracked
         JOIN wallet_days
           ON wallet_days.wallet_id = tracked.wallet_id
          AND wallet_days.day >= %(first_day)s
          AND wallet_days.day < %(end_day)s
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     count(*) FILTER (WHERE NOT is_sell),
                     count(*) FILTER (WHERE is_sell),
                     count(realized_cost),
                     count(*) FILTER (WHERE value_usd IS NULL),
                     count(realized_cost) - count(realized_usd),
                     COALESCE(sum(value) FILTER (WHERE is_sell), 0),
                     sum(value),
                     COALESCE(sum(value_usd), 0),
                     COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0),
                     COALESCE(sum(realized), 0),
                     COALESCE(sum(realized_cost), 0),
                     COALESCE(sum(realized_usd), 0),
                     COALESCE(sum(hold_seconds), 0),
                     COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0)
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY wallet_id) AS within
       ),
       summed AS (
       SELECT wallet_id,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(covered_txn) AS covered_txn,
              sum(unpriced_txn) AS unpriced_txn,
              sum(unpriced_sell_txn) AS unpriced_sell_txn,
              sum(sold) AS sold,
              sum(volume) AS volume,
              sum(volume_usd) AS volume_usd,
              sum(unpriced_volume) AS unpriced_volume,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd,
              sum(realized_cost) AS realized_cost,
              sum(hold_seconds) AS hold_seconds,
              sum(hold_cost) AS hold_cost
         FROM piece
        GROUP BY wallet_id
       HAVING sum(buy_txn) + sum(sell_txn) > 0
       ),
       covered AS (
       SELECT position_days.wallet_id,
              token_id,
              realized,
              realized_cost
         FROM tracked
         JOIN position_days
           ON position_days.wallet_id = tracked.wallet_id
          AND position_days.day >= %(first_day)s
          AND position_days.day < %(end_day)s
        WHERE covered_txn > 0
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     token_id,
                     sum(realized),
                     sum(realized_cost)
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
                 AND realized_cost IS NOT NULL
               GROUP BY wallet_id, token_id) AS within
       ),
       closed AS (
       SELECT wallet_id,
              profit_bucket(sum(realized), sum(realized_cost)) AS bucket
         FROM covered
        GROUP BY wallet_id, token_id
       ),
       counted AS (
       SELECT wallet_id,
              count(*) AS closed_count,
              count(*) FILTER (WHERE bucket > 0) AS win_count,
              count(*) FILTER (WHERE bucket = 3) AS above_500,
              count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 0) AS below_zero
         FROM closed
        GROUP BY wallet_id
       ),
{latest_price},
       figured AS (
       SELECT tracked.address,
              tracked.name,
              tracked.image_url,
              tracked.twitter,
              %(currency)s::text AS currency,
              round_half_up(realized, 9) AS realized_pnl,
              CASE WHEN unpriced_sell_txn = 0 THEN round_half_up(realized_usd, 4) END AS realized_pnl_usd,
              round_half_up(sold - realized - realized_cost, 9) AS sold_without_cost,
              buy_txn,
              sell_txn,
              buy_txn + sell_txn AS total_txn,
              round_half_up(volume, 9) AS total_volume,
              -- A trade without a dollar value counts with the latest native price.
              round_half_up(dollars(volume_usd, unpriced_volume, buy_txn + sell_txn, unpriced_txn, latest.usd), 4)
                  AS total_volume_usd,
              CASE WHEN covered_txn = 0 THEN NULL
                   WHEN realized_cost = 0 THEN round_half_up(quotient(hold_seconds, covered_txn * 60), 2)
                   ELSE round_half_up(quotient(hold_cost, realized_cost * 60), 2)
              END AS avg_hold_time_minutes,
              COALESCE(percentage(win_count, closed_count), 0) AS win_rate_percentage,
              COALESCE(above_500, 0) AS above_500,
              COALESCE(above_100_to_500, 0) AS above_100_to_500,
              COALESCE(above_zero_to_100, 0) AS above_zero_to_100,
              COALESCE(below_zero, 0) AS below_zero,
              COALESCE(closed_count, 0) AS closed_count,
              COALESCE(win_count, 0) AS win_count
         FROM summed
         JOIN tracked
           ON tracked.wallet_id = summed.wallet_id
         LEFT JOIN counted
           ON counted.wallet_id = summed.wallet_id
        CROSS JOIN latest
       )
SELECT address,
       total_volume,
       realized_pnl,
       realized_pnl_usd,
       win_rate_percentage AS win_rate,
       total_txn,
       (SELECT json_strip_nulls(row_to_json(entry))::text
          FROM (SELECT (SELECT row_to_json(profile)
                          FROM (SELECT name, image_url, twitter, currency) AS profile) AS profile,
                       (SELECT row_to_json(stats)
                          FROM (SELECT realized_pnl, realized_pnl_usd, sold_without_cost, buy_txn, sell_txn, total_txn,
                                       total_volume, total_volume_usd, avg_hold_time_minutes) AS stats) AS period_stats,
                       (SELECT row_to_json(distribution)
                          FROM (SELECT win_rate_percentage, above_500, above_100_to_500, above_zero_to_100,
                                       below_zero, closed_count, win_count) AS distribution)
                           AS period_win_rate_distribution) AS entry) AS entry
  FROM figured
