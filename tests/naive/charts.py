"""The charts of boards, naively: each value summed from the sells until then.

Shares no code with the service.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction

from tests.naive.sums import INSTANT, PERIOD, steps
from tests.naive.walk import Row, Sale, shown, shown_time

_STEP = {
    "6h": timedelta(minutes=15),
    "1d": timedelta(hours=1),
    "7d": timedelta(hours=6),
    "30d": timedelta(days=1),
    "90d": timedelta(days=3),
}


def times_of(since: datetime, until: datetime, *, is_all: bool = False) -> tuple[timedelta, list[datetime]]:
    """Return the step of a chart of (since, until], and the times of its values."""
    for period, step in _STEP.items():
        if until - since <= PERIOD[period] and not is_all:
            return step, steps(since, until, step)
    days = 1
    while len(steps(since, until, timedelta(days=days))) > 60:
        days += 1
    return timedelta(days=days), steps(since, until, timedelta(days=days))


def chart_of(until: datetime, step: timedelta, times: list[datetime], sales: Iterable[Sale]) -> Row:
    """Return the chart of some sells, of which the last value has all."""
    own = list(sales)
    sums = [sum((sale.realized for sale in own if sale.at < time), Fraction(0)) for time in times[:-1]]
    sums.append(sum((sale.realized for sale in own), Fraction(0)))
    values = [shown(value, 9) for value in sums]
    return {
        "step_seconds": int(step.total_seconds()),
        "ends_at": shown_time(until + INSTANT),
        "values": values,
    }
