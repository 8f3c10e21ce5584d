"""How the profits on a board grew: the steps of its charts, and the values at their ends."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple

from wallet_api.database import Connection, Row
from wallet_api.periods import ALL, CHART_STEPS, PERIOD_LENGTHS
from wallet_api.times import shown_time

MAX_POINTS = 60

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_FIRST_TRADE = """
SELECT min(first_seen)
  FROM lifetimes
 WHERE blockchain = %(blockchain)s
   AND type = %(type)s
"""
# Of a board without charts.
NO_STEPS = dict.fromkeys(("step_seconds", "first_step", "last_step", "chart_since"))


class Steps(NamedTuple):
    """The steps of a period, by their numbers from the epoch on; the last one ends at `ends_at`."""

    seconds: int
    first: int
    last: int
    since: datetime
    ends_at: datetime

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of board_charts.sql, and since when sells are in the charts."""
        return {
            "step_seconds": self.seconds,
            "first_step": self.first,
            "last_step": self.last,
            "chart_since": self.since,
        }

    def chart(self, row: Row) -> dict[str, Any]:
        """Return the columns of the chart of a row of a board, in place of those of its changes."""
        profits = dict(zip(row["chart_places"] or [], row["chart_profits"] or [], strict=True))
        return {
            "chart_step_seconds": self.seconds,
            "chart_ends_at": shown_time(self.ends_at),
            "chart_values": list(_values(self.last - self.first + 1, profits)),
        }


def steps_of(connection: Connection, now: datetime, blockchain: str, type: str, period: str) -> Steps:
    """Return the steps of a board's period; of all trades as few days each as make at most 60 points."""
    if period != ALL:
        return _steps(CHART_STEPS[period], now - PERIOD_LENGTHS[period], now)
    first = connection.fetch_value(_FIRST_TRADE, {"blockchain": blockchain, "type": type}) or now
    since = min(first - datetime.resolution, now - datetime.resolution)
    return next(
        steps
        for days in count(1)
        if (steps := _steps(days * _DAY, since, now)).last - steps.first < MAX_POINTS
    )


def _steps(step: timedelta, since: datetime, now: datetime) -> Steps:
    # A step that ends at `now` is the last one.
    first, last = (since - _EPOCH) // step, -((_EPOCH - now) // step) - 1
    return Steps(int(step.total_seconds()), first, max(first, last), since, now)


def _values(points: int, profits: dict[int, Decimal]) -> Iterator[Decimal]:
    """Return the profit at the end of each step, of which only those that changed it are known."""
    value = Decimal(0)
    for place in range(points):
        value = profits.get(place, value)
        yield value
