"""The periods of boards, trackers and analytics, the windows that stand in their place, and their parts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

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
_MANY_DAYS = timedelta(days=400)
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
# After how long it is looked at what became of a signal, the shortest first.
OUTCOME_SPANS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "24h": timedelta(hours=24)}


class Bounds(NamedTuple):
    """A window as requested: `since` <= created_at < `until`, by default from the first trade, until now."""

    since: datetime | None = None
    until: datetime | None = None


# The name of a period, or a window.
Period = str | Bounds


def step_of(length: timedelta, steps: Mapping[str, timedelta]) -> timedelta | None:
    """Return the step of the shortest of these periods that is not shorter; None if all are."""
    return next((step for period, step in steps.items() if PERIOD_LENGTHS[period] >= length), None)


def long_step_of(length: timedelta) -> timedelta:
    """Return the step of a window of any length: of more than 90 days a day, of more than 400 a week."""
    longest = timedelta(days=7 if length > _MANY_DAYS else 1)
    return step_of(length, TRACKER_BUCKETS) or longest
