"""How much a group traded over a period or a window, bucket by bucket."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.base.periods import long_step_of
from wallet_api.base.times import EPOCH, shown_time
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.spans import TimeSpan, span_of_group
from wallet_api.queries.windows import cut_hours, cut_period

_HOURS, _DAYS = (load_sql(__package__, f"volume_trend_{kind}") for kind in ("hours", "days"))
_DAY = timedelta(days=1)


class Trend(NamedTuple):
    """The buckets of a span, oldest first, the price of the native coin, and the span."""

    buckets: Columns
    native_price: Row
    span: TimeSpan


def volume_trend(connection: Connection, now: datetime, given: Mapping[str, Any]) -> Trend:
    """Return all buckets of a period that ends at `now`, or of a window, oldest first, also without a trade.

    They end as the chart of a tracker has its points: at multiples of their length in UTC, and with the span.
    `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    span = span_of_group(connection, now, given)
    native_price = read_native_price(connection, now, given["blockchain"])
    step = long_step_of(span.length)
    # Two ends in one second would be shown as the same time.
    last = span.until.replace(microsecond=0)
    # Sums are kept of whole days and, for some weeks, of whole hours.
    if step >= _DAY:
        statement, parts = _DAYS, cut_period(span.since, span.until)
    else:
        statement, parts = _HOURS, cut_hours(span.since, span.until, now, step)
    group = group_parameters(given["blockchain"], given["type"])
    cut = {"length": step, "until": last}
    traded = connection.fetch_columns(statement, {**group, **parts, **cut, "now": now})
    ends = [] if span.is_empty else [*_ends(span.begins_at, last, step), last]
    # Those without a trade have no row.
    places = {end: place for place, end in enumerate(traded.pop("ends_at"))}
    buckets: Columns = {"timestamp": [shown_time(end if end < last else span.ends_at) for end in ends]}
    for name, values in traded.items():
        buckets[name] = [values[places[end]] if end in places else 0 for end in ends]
    return Trend(buckets, native_price, span)


def _ends(first: datetime, last: datetime, step: timedelta) -> Iterator[datetime]:
    """Return the multiples of `step` after `first` and before `last`."""
    end = EPOCH + ((first - EPOCH) // step + 1) * step
    while end < last:
        yield end
        end += step
