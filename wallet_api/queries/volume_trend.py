"""How much a group traded over a period or a window, bucket by bucket."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.base.periods import long_step_of
from wallet_api.base.times import shown_time
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.spans import TimeSpan, span_of_group
from wallet_api.queries.windows import HOURS_KEPT, cut_period

_HOURS, _DAYS = (load_sql(__package__, f"volume_trend_{kind}") for kind in ("hours", "days"))
_DAY = timedelta(days=1)
# Of shorter buckets so many hours are cut that their trades are read as fast.
_LEAST_OF_HOURS = timedelta(hours=6)
# The last instant of a day, by which all others are.
_MIDNIGHT = datetime(1970, 1, 1, tzinfo=UTC) - datetime.resolution


class Trend(NamedTuple):
    """The buckets of a span, oldest first, the price of the native coin, and the span."""

    buckets: Columns
    native_price: Row
    span: TimeSpan


def volume_trend(connection: Connection, now: datetime, given: Mapping[str, Any]) -> Trend:
    """Return all buckets of a period that ends at `now`, or of a window, oldest first, also without a trade.

    The last one ends with it. Those before it are as long each, but the first; those of days end with days of
    UTC, whose sums are kept. `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    span = span_of_group(connection, now, given)
    native_price = read_native_price(connection, now, given["blockchain"])
    step = long_step_of(span.length)
    parameters = {
        **group_parameters(given["blockchain"], given["type"]),
        "now": now,
        "since": span.since,
        "until": span.until,
        "length": step,
        "by_hours": step >= _LEAST_OF_HOURS and span.since >= now - HOURS_KEPT,
    }
    statement, origin = _HOURS, span.until
    if step >= _DAY:
        statement, origin = _DAYS, _MIDNIGHT
        parameters |= {"origin": origin, **cut_period(span.since, span.until)}
    traded, ends = connection.fetch_columns(statement, parameters), _ends(span, step, origin)
    # Those without a trade have no row.
    places = {end: place for place, end in enumerate(traded.pop("ends_at"))}
    buckets: Columns = {"timestamp": [shown_time(end + datetime.resolution) for end in ends]}
    for name, values in traded.items():
        buckets[name] = [values[places[end]] if end in places else 0 for end in ends]
    return Trend(buckets, native_price, span)


def _ends(span: TimeSpan, step: timedelta, origin: datetime) -> list[datetime]:
    """Return the last instant of each bucket: every `step` from `origin` on, and that of the span."""
    end = origin + ((span.since - origin) // step + 1) * step
    ends = []
    while end < span.until:
        ends.append(end)
        end += step
    return [] if span.is_empty else [*ends, span.until]
