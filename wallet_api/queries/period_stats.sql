-- For boards and trackers to include, with traded_usd.sql: what both show of a wallet in a period, of its sums (ledger/sums.sql), its
-- best_trade, and its tokens with a covered sell: how many there are (closed), made a profit (won), and are in each range of it.
{profit: @ AS period_stats_$},
{fees: @ AS period_stats_$},
{bought_and_sold: @ AS period_stats_total_$},
buy_txn AS period_stats_buy_txn,
sell_txn AS period_stats_sell_txn,
round_half_up(COALESCE(best_trade, 0), 9) AS period_stats_best_trade_pnl,
CASE WHEN covered_txn = 0 THEN NULL
     WHEN realized_cost = 0 THEN round_half_up(quotient(hold_seconds, covered_txn * 60), 2)
     ELSE round_half_up(quotient(hold_cost, realized_cost * 60), 2)
END AS period_stats_avg_hold_time_minutes,
percentage(won, closed) AS period_win_rate_distribution_win_rate_percentage,
above_500 AS period_win_rate_distribution_above_500,
above_100_to_500 AS period_win_rate_distribution_above_100_to_500,
above_zero_to_100 AS period_win_rate_distribution_above_zero_to_100,
below_zero AS period_win_rate_distribution_below_zero,
closed AS period_win_rate_distribution_closed_count,
won AS period_win_rate_distribution_win_count
