"""Windows of time, cut into the whole days and the buckets that have their sums."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.base.errors import InvalidParameter
from wallet_api.base.times import EPOCH
from wallet_api.ledger.merge import WALLET_HOURS

BUCKET_SECONDS = (1, 60, 3600)
# The trades of one token are too few to be worth a rollup by minutes.
TOKEN_BUCKET_SECONDS = (1, 3600)

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# A day less of wallet_hours than there are: a service and an import have clocks of their own.
HOURS_KEPT = WALLET_HOURS - _DAY


def moment_of(as_of: datetime | None, now: datetime) -> datetime:
    """Return a requested moment in whole seconds, or `now`. Raises InvalidParameter for one in the future."""
    if as_of is not None and as_of > now:
        raise InvalidParameter("Parameter as_of is in the future.", parameter="as_of")
    # Windows that begin before the year 1 cannot be computed.
    return max(as_of or now, EPOCH).replace(microsecond=0)


class Window(NamedTuple):
    """(since, now], `seconds` long, with its buckets in volume_rollup as parameters."""

    since: datetime
    now: datetime
    seconds: int
    parameters: dict[str, Any]
    warnings: list[str]


def window_until(now: datetime, seconds: int, most_seconds: int, mint: str | None) -> Window:
    """Return the window of a group, or of one token in it, that ends at `now`, counted in whole seconds."""
    now = now.replace(microsecond=0)
    effective = min(seconds, most_seconds)
    since = now - timedelta(seconds=effective)
    parts = cover(since, now, BUCKET_SECONDS if mint is None else TOKEN_BUCKET_SECONDS)
    warnings = (
        [f"The window was capped from {seconds} to {effective} seconds."] if effective < seconds else []
    )
    return Window(since, now, effective, {"now": now} | columns(parts), warnings)


class Cut(NamedTuple):
    """The whole steps of a period, `first` until `end`, the first one after them; and the parts beside them.

    A part is (start, end], within one step.
    """

    first: datetime
    end: datetime
    starts: list[datetime]
    ends: list[datetime]


def cut(since: datetime, now: datetime, step: timedelta) -> Cut:
    """Cut (`since`, `now`] at the multiples of `step` in UTC."""
    first = EPOCH + ((since - EPOCH) // step + 1) * step
    end = EPOCH + ((now - EPOCH) // step) * step
    if first > end:
        return Cut(end, end, [since], [now])
    before = datetime.resolution
    return Cut(first, end, [since, end - before], [first - before, now])


def cut_period(since: datetime, until: datetime) -> dict[str, Any]:
    """Return the whole days of UTC in (`since`, `until`], and the parts beside them, as parameters.

    Of a group, whole_days.sql makes a whole day of the last part where no trade is later.
    """
    days = cut(since, until, _DAY)
    return {
        "until": until,
        "first_day": days.first.date(),
        "end_day": days.end.date(),
        "starts": days.starts,
        "ends": days.ends,
    }


def cut_hours(since: datetime, until: datetime, now: datetime, step: timedelta) -> dict[str, Any]:
    """Return the kept hours of a chart of (`since`, `until`], and the parts beside them, as parameters.

    If not all of them are kept, or a step of the chart is shorter, all is one part.
    """
    hours = cut(since, until, _HOUR)
    if step < _HOUR or since < now - HOURS_KEPT:
        hours = Cut(hours.first, hours.first, [since], [until])
    return {
        "first_hour": hours.first,
        "end_hour": hours.end,
        "chart_starts": hours.starts,
        "chart_ends": hours.ends,
    }


class Part(NamedTuple):
    """(starts_at, ends_at], made of whole buckets of this size; size 0 stands for single trades."""

    bucket_seconds: int
    starts_at: datetime
    ends_at: datetime


def cover(starts_at: datetime, ends_at: datetime, sizes: Sequence[int]) -> list[Part]:
    """Return the fewest buckets that together are exactly (starts_at, ends_at], oldest first.

    `sizes` are ascending, and each divides the next.
    """
    before: list[Part] = []
    after: list[Part] = []
    smaller = 0
    for size in sizes:
        step = timedelta(seconds=size)
        first = EPOCH - ((EPOCH - starts_at) // step) * step
        last = EPOCH + ((ends_at - EPOCH) // step) * step
        if first >= last:
            break
        if starts_at < first:
            before.append(Part(smaller, starts_at, first))
        if last < ends_at:
            after.append(Part(smaller, last, ends_at))
        starts_at, ends_at, smaller = first, last, size
    within = [Part(smaller, starts_at, ends_at)] if starts_at < ends_at else []
    return [*before, *within, *reversed(after)]


def columns(parts: Sequence[Part]) -> dict[str, str]:
    """Return the parts as parameters: arrays in PostgreSQL's notation, which psycopg need not convert."""
    # Each begins where the one before it ends.
    edges = [part.starts_at.isoformat() for part in parts]
    edges += [part.ends_at.isoformat() for part in parts[-1:]]
    return {
        "sizes": _array([str(part.bucket_seconds) for part in parts]),
        "starts": _array(edges[:-1]),
        "ends": _array(edges[1:]),
    }


def _array(values: Sequence[str]) -> str:
    return "{" + ",".join(values) + "}"
