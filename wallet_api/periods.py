"""The periods of boards, trackers and analytics, and their parts."""

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
# Those of the charts of trackers; of all time they are days or weeks.
TRACKER_BUCKETS = BUCKETS | {"90d": timedelta(days=1)}
# The steps of the charts of boards; of all trades they are whole days, as many as make few points.
CHART_STEPS = {
    "6h": timedelta(minutes=15),
    "1d": timedelta(hours=1),
    "7d": timedelta(hours=6),
    "30d": timedelta(days=1),
    "90d": timedelta(days=3),
}
# Of all operations that have a period.
PERIODS = tuple(BUCKETS)
BOARD_PERIODS = (*PERIODS, "90d", ALL)
# The windows of flows, the shortest first.
FLOW_PERIODS = ("1h", "6h", "1d", "7d")
