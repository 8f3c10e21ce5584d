"""How the profits on a board grew: the steps of its charts, and the values at their ends."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from wallet_api.base.periods import CHART_STEPS, step_of
from wallet_api.base.times import EPOCH, shown_time
from wallet_api.database import Columns
from wallet_api.queries.spans import TimeSpan
from wallet_api.queries.windows import cut_hours

MAX_POINTS = 60

_DAY = timedelta(days=1)
# Of a board without charts.
NO_STEPS = dict.fromkeys(
    ("step_seconds", "first_step", "last_step", "first_hour", "end_hour", "chart_starts", "chart_ends")
)


class Steps(NamedTuple):
    """The steps of a span, by their numbers from the epoch on; the last one ends with the span."""

    seconds: int
    first: int
    last: int
    span: TimeSpan

    def parameters(self, now: datetime) -> dict[str, Any]:
        """Return the parameters of board_charts.sql, and of which hours and parts the charts have sells."""
        return {
            "step_seconds": self.seconds,
            "first_step": self.first,
            "last_step": self.last,
            **cut_hours(self.span.since, self.span.until, now, timedelta(seconds=self.seconds)),
        }

    def charts(
        self, places: Sequence[Sequence[int] | None], profits: Sequence[Sequence[str] | None]
    ) -> Columns:
        """Return the columns of the charts of a board, of which only the changes are known."""
        points, count = self.last - self.first + 1, len(places)
        return {
            "chart_step_seconds": [self.seconds] * count,
            "chart_ends_at": [shown_time(self.span.ends_at)] * count,
            "chart_values": [
                list(_values(points, dict(zip(changed or (), to or (), strict=True))))
                for changed, to in zip(places, profits, strict=True)
            ],
        }


def steps_of(span: TimeSpan) -> Steps:
    """Return the steps of a span; of one longer than any period so few days that they make at most 60."""
    step = None if span.is_all else step_of(span.length, CHART_STEPS)
    if step is not None:
        return _steps(step, span)
    return next(
        steps for days in count(1) if (steps := _steps(days * _DAY, span)).last - steps.first < MAX_POINTS
    )


def _steps(step: timedelta, span: TimeSpan) -> Steps:
    # A step that ends with the span is the last one.
    first, last = (span.begins_at - EPOCH) // step, -((EPOCH - span.until) // step) - 1
    return Steps(int(step.total_seconds()), first, max(first, last), span)


def _values(points: int, profits: Mapping[int, str]) -> Iterator[str]:
    """Return the profit at the end of each step, of which only those that changed it are known."""
    value = "0"
    for place in range(points):
        value = profits.get(place, value)
        yield value
