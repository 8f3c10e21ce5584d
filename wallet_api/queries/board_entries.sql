-- For statements of leaderboards to include. It makes their rows of record: of each wallet that traded, its profile and
-- the sums, counts and largest figures over its trades. Needs native_prices_pkey.
{latest_price},
       figured AS (
       SELECT address,
              name,
              image_url,
              twitter,
              %(currency)s::text AS currency,
{profit},
              buy_txn,
              sell_txn,
              -- As of a period, whose sums of counts are numeric.
              (buy_txn + sell_txn)::numeric AS total_txn,
              round_half_up(invested, 9) AS total_buy,
              round_half_up(sold, 9) AS total_sell,
              round_half_up(invested + sold, 9) AS total_volume,
              -- A trade without a dollar value counts with the latest native price.
              round_half_up(dollars(invested_usd + sold_usd, invested_without_usd + sold_without_usd, buy_txn + sell_txn,
                                    buys_without_usd + sells_without_usd, latest.usd), 4) AS total_volume_usd,
              round_half_up(COALESCE(best_trade, 0), 9) AS best_trade_pnl,
              CASE WHEN covered_txn = 0 THEN NULL
                   WHEN realized_cost = 0 THEN round_half_up(quotient(hold_seconds, covered_txn * 60), 2)
                   ELSE round_half_up(quotient(hold_cost, realized_cost * 60), 2)
              END AS avg_hold_time_minutes,
              percentage(above_500 + above_100_to_500 + above_zero_to_100,
                         above_500 + above_100_to_500 + above_zero_to_100 + below_zero) AS win_rate_percentage,
              above_500,
              above_100_to_500,
              above_zero_to_100,
              below_zero,
              above_500 + above_100_to_500 + above_zero_to_100 + below_zero AS closed_count,
              above_500 + above_100_to_500 + above_zero_to_100 AS win_count
         FROM record
        CROSS JOIN latest
       )
SELECT address,
       total_volume,
       realized_pnl,
       realized_pnl_usd,
       win_rate_percentage AS win_rate,
       total_txn,
       realized_pnl_percentage,
       total_buy,
       best_trade_pnl,
       avg_hold_time_minutes,
       sold_without_cost,
       closed_count,
       total_sell,
       (SELECT json_strip_nulls(row_to_json(entry))::text
          FROM (SELECT (SELECT row_to_json(profile)
                          FROM (SELECT name, image_url, twitter, currency) AS profile) AS profile,
                       (SELECT row_to_json(stats)
                          FROM (SELECT realized_pnl, realized_pnl_usd, realized_pnl_percentage, sold_without_cost,
                                       buy_txn, sell_txn, total_txn, total_buy, total_sell, total_volume,
                                       total_volume_usd, best_trade_pnl, avg_hold_time_minutes) AS stats)
                           AS period_stats,
                       (SELECT row_to_json(distribution)
                          FROM (SELECT win_rate_percentage, above_500, above_100_to_500, above_zero_to_100,
                                       below_zero, closed_count, win_count) AS distribution)
                           AS period_win_rate_distribution) AS entry) AS entry
  FROM figured
