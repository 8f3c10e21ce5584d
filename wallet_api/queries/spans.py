"""Windows of time, cut into the buckets that the rollups hold."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Span(NamedTuple):
    """(starts_at, ends_at], made of whole buckets of this size; size 0 stands for single trades."""

    bucket_seconds: int
    starts_at: datetime
    ends_at: datetime


def cover(starts_at: datetime, ends_at: datetime, sizes: Sequence[int]) -> list[Span]:
    """The fewest buckets that together are exactly (starts_at, ends_at]; `sizes` come largest first."""
    if starts_at >= ends_at:
        return []
    if not sizes:
        return [Span(0, starts_at, ends_at)]
    size = timedelta(seconds=sizes[0])
    first = _EPOCH - ((_EPOCH - starts_at) // size) * size
    last = _EPOCH + ((ends_at - _EPOCH) // size) * size
    if first >= last:
        return cover(starts_at, ends_at, sizes[1:])
    return [
        *cover(starts_at, first, sizes[1:]),
        Span(sizes[0], first, last),
        *cover(last, ends_at, sizes[1:]),
    ]


def columns(spans: Sequence[Span]) -> dict[str, str]:
    """The spans as the arrays that the queries take, in PostgreSQL's notation, which is sent as it is.

    As lists they would take psycopg longer than the query takes PostgreSQL.
    """
    return {
        "sizes": _array(str(span.bucket_seconds) for span in spans),
        "starts": _array(span.starts_at.isoformat() for span in spans),
        "ends": _array(span.ends_at.isoformat() for span in spans),
    }


def _array(values: Iterable[str]) -> str:
    return "{" + ",".join(values) + "}"
