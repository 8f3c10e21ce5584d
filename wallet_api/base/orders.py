"""How lists can be sorted: the figures of boards, and the two orders."""

BOARD_SORTS = (
    "total_volume",
    "realized_pnl",
    "realized_pnl_usd",
    "win_rate",
    "total_txn",
    "realized_pnl_percentage",
    "total_buy",
    "best_trade_pnl",
    "avg_hold_time_minutes",
    "sold_without_cost",
    *("win_rate_low", "profit_factor", "pnl_without_best_token", "max_drawdown", "fast_share", "active_days"),
    *("total_buy_usd", "total_sell", "total_sell_usd", "open_cost", "open_cost_usd", "fees"),
)
ORDERS = ("desc", "asc")
