"""Windows of time, cut into the buckets of the rollups, and the warnings about capped arguments."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

# The largest page of trades.
MAX_LIMIT = 1000

BUCKET_SECONDS = (1, 60, 3600)
# The trades of one token are too few to be worth a rollup by minutes.
TOKEN_BUCKET_SECONDS = (1, 3600)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    spans = cover(since, now, BUCKET_SECONDS if mint is None else TOKEN_BUCKET_SECONDS)
    warnings = (
        [f"The window was capped from {seconds} to {effective} seconds."] if effective < seconds else []
    )
    return Window(since, now, effective, {"now": now} | columns(spans), warnings)


def limit_warnings(limit: int) -> list[str]:
    """Return the warning about a `limit` above the maximum; none for a smaller one."""
    return [f"limit was capped from {limit} to {MAX_LIMIT}."] if limit > MAX_LIMIT else []


def with_warnings(data: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the data of a response with its warnings, if there are any."""
    return data | {"warnings": warnings} if warnings else data


class Span(NamedTuple):
    """(starts_at, ends_at], made of whole buckets of this size; size 0 stands for single trades."""

    bucket_seconds: int
    starts_at: datetime
    ends_at: datetime


def cover(starts_at: datetime, ends_at: datetime, sizes: Sequence[int]) -> list[Span]:
    """Return the fewest buckets that together are exactly (starts_at, ends_at], oldest first.

    `sizes` are ascending, and each divides the next.
    """
    before: list[Span] = []
    after: list[Span] = []
    smaller = 0
    for size in sizes:
        step = timedelta(seconds=size)
        first = _EPOCH - ((_EPOCH - starts_at) // step) * step
        last = _EPOCH + ((ends_at - _EPOCH) // step) * step
        if first >= last:
            break
        if starts_at < first:
            before.append(Span(smaller, starts_at, first))
        if last < ends_at:
            after.append(Span(smaller, last, ends_at))
        starts_at, ends_at, smaller = first, last, size
    within = [Span(smaller, starts_at, ends_at)] if starts_at < ends_at else []
    return [*before, *within, *reversed(after)]


def columns(spans: Sequence[Span]) -> dict[str, str]:
    """Return the spans as parameters: arrays in PostgreSQL's notation, which psycopg need not convert."""
    # Each begins where the one before it ends.
    edges = [span.starts_at.isoformat() for span in spans]
    edges += [span.ends_at.isoformat() for span in spans[-1:]]
    return {
        "sizes": _array([str(span.bucket_seconds) for span in spans]),
        "starts": _array(edges[:-1]),
        "ends": _array(edges[1:]),
    }


def _array(values: Sequence[str]) -> str:
    return "{" + ",".join(values) + "}"
