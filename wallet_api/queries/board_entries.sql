-- For statements of leaderboards to end with. They return their rows of record: of each wallet that traded, its profile and
-- the sums, counts and largest figures over its trades, and of all its life open_cost, in dollars too, and ever_invested.
-- Needs wallets_pkey, native_prices_pkey.
{latest_price}
SELECT address AS wallet,
       name AS profile_name,
       image_url AS profile_image_url,
       twitter AS profile_twitter,
       type AS profile_type,
       %(currency)s::text AS profile_currency,
{period_stats},
       -- As of a period, whose sums of counts are numeric.
       (buy_txn + sell_txn)::numeric AS period_stats_total_txn,
       round_half_up(invested + sold, 9) AS period_stats_total_volume,
       traded.volume_usd AS period_stats_total_volume_usd,
       round_half_up(open_cost, 9) AS period_stats_open_cost,
       CASE WHEN open_without_usd = 0 THEN round_half_up(open_cost_usd, 4) END AS period_stats_open_cost_usd,
       -- Exact but for the root, which has 60 decimals.
       CASE WHEN won = 0 THEN 0
            ELSE round_half_up(quotient(100 * (2 * won * closed + closed * z_squared
                                               - sqrt(closed * z_squared * (4 * won * (closed - won) + closed * z_squared))),
                                        2 * closed * (closed + z_squared)), 4)
       END AS period_stats_win_rate_low,
       -- The gains are the profit and the losses together.
       CASE WHEN losses > 0 THEN round_half_up(quotient(realized + losses, losses), 4)
            WHEN won = 0 THEN 0
       END AS period_stats_profit_factor,
       round_half_up(realized - best_token, 9) AS period_stats_pnl_without_best_token,
       round_half_up(max_drawdown, 9) AS period_stats_max_drawdown,
       percentage(fast_txn, covered_txn) AS period_stats_fast_share,
       active_days::numeric AS period_stats_active_days,
       chart_places,
       chart_profits,
       round_half_up(ever_invested, 9) AS ever_bought
  FROM record
  JOIN wallets
    ON wallets.wallet_id = record.wallet_id
 CROSS JOIN latest
{traded_usd}
 CROSS JOIN LATERAL (
       SELECT above_500 + above_100_to_500 + above_zero_to_100 AS won,
              above_500 + above_100_to_500 + above_zero_to_100 + below_zero AS closed,
              1.959963984540054 * 1.959963984540054 AS z_squared) AS bucket
