"""What boards can be asked for: the periods, their parts, and the figures that sort them."""

from datetime import timedelta

PERIOD_LENGTHS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
}
# Of a board, all trades that there are.
ALL = "all"
# The parts of a period in charts and trends.
BUCKETS = {
    "6h": timedelta(minutes=5),
    "1d": timedelta(minutes=15),
    "7d": timedelta(hours=2),
    "30d": timedelta(hours=6),
}
# The windows of flows, the shortest first.
FLOW_PERIODS = ("1h", "6h", "1d", "7d")

SORTS = (
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
)
ORDERS = ("desc", "asc")
