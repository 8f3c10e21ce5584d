"""Windows of time, cut into the buckets that the rollups hold."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
