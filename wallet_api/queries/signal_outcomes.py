"""What became of the kept signals of a group, beside all that it bought."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.outcomes import SPANS
from wallet_api.queries.spans import TimeSpan, span_of

_HOUR = timedelta(hours=1)
# So long after an hour it should be kept.
_LATE = timedelta(minutes=5)

_SIGNAL_OUTCOMES = load_sql(__package__, "signal_outcomes")


class SignalOutcomes(NamedTuple):
    """The rows by span, how many full hours of the span are not kept, and the price of the native coin."""

    rows: Columns
    hours: int
    missing: int
    native_price: Row
    span: TimeSpan

    @property
    def warnings(self) -> list[str]:
        """Return the warning about hours that are not kept; none if all are."""
        if not self.missing:
            return []
        return [
            f"Only {self.hours - self.missing} of {self.hours} hours are kept: sync quotes keeps each hour,"
            " and with --since those of the past."
        ]


def read_signal_outcomes(connection: Connection, now: datetime, given: Mapping[str, Any]) -> SignalOutcomes:
    """Return what became of the `signal`s of a group at the full hours of UTC in a window with both bounds.

    A token counts at the first of these hours of each day.
    """
    now = now.replace(microsecond=0)
    span = span_of(now, given["period"])
    # Bounds of the service are an instant before those of the window.
    since, until = _next_hour(span.begins_at), _next_hour(span.ends_at)
    due = min(until, _next_hour(now - _LATE))
    group = {name: given[name] for name in ("blockchain", "type", "signal")}
    parameters = SPANS | group | {"since": since, "until": until, "due": due}
    head, [rows] = connection.fetch_lists(_SIGNAL_OUTCOMES, parameters)
    hours = max((due - since) // _HOUR, 0)
    native_price = read_native_price(connection, now, given["blockchain"])
    return SignalOutcomes(rows, hours, hours - head["hours"], native_price, span)


def _next_hour(moment: datetime) -> datetime:
    """Return the first full hour of UTC that is not before a moment."""
    moment = moment.astimezone(UTC)
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if hour == moment else hour + _HOUR
