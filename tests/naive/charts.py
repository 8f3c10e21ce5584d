"""The charts of boards, naively: each value summed from the sells until then.

Shares no code with the service.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.naive.sums import PERIOD
from tests.naive.walk import Row, Sale, shown, shown_time

_STEP = {
    "6h": timedelta(minutes=15),
    "1d": timedelta(hours=1),
    "7d": timedelta(hours=6),
    "30d": timedelta(days=1),
    "90d": timedelta(days=3),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def times_of(now: datetime, period: str, first_trade: datetime) -> tuple[timedelta, list[datetime]]:
    """Return the step of a chart, and the times of its values."""
    if period != "all":
        return _STEP[period], _times(now, now - PERIOD[period], _STEP[period])
    # A first trade at the very moment of a point is before the next one.
    since = min(first_trade - timedelta(microseconds=1), now - timedelta(microseconds=1))
    days = 1
    while len(_times(now, since, timedelta(days=days))) > 60:
        days += 1
    return timedelta(days=days), _times(now, since, timedelta(days=days))


def chart_of(now: datetime, step: timedelta, times: list[datetime], sales: Iterable[Sale]) -> Row:
    """Return the chart of some sells, of which the last value has all."""
    own = list(sales)
    sums = [sum((sale.realized for sale in own if sale.at < time), Fraction(0)) for time in times[:-1]]
    sums.append(sum((sale.realized for sale in own), Fraction(0)))
    values = [shown(value, 9) for value in sums]
    return {"step_seconds": int(step.total_seconds()), "ends_at": shown_time(now), "values": values}


def _times(now: datetime, since: datetime, step: timedelta) -> list[datetime]:
    time = _EPOCH + (since - _EPOCH) // step * step + step
    times = []
    while time < now:
        times.append(time)
        time += step
    return [*times, now]
