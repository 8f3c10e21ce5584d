"""The span of a period or a window: which trades it has, and how a response states it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from wallet_api.base.forms import EARLIEST
from wallet_api.base.periods import ALL, PERIOD_LENGTHS, Bounds, Period
from wallet_api.base.times import exact_time
from wallet_api.database import Connection
from wallet_api.queries.groups import group_parameters

# Of the first and of the newest trade; None without any.
Times = tuple[datetime | None, datetime | None]
Ever = Callable[[], Times]

_INSTANT = datetime.resolution
_EVER = "SELECT min(first_seen) AS first_seen, max(last_seen) AS last_seen FROM lifetimes WHERE "
_OF_GROUP = f"{_EVER} blockchain = %(blockchain)s AND type = ANY (%(types)s::text[])"
_OF_WALLET = f"{_EVER} wallet_id = %(wallet_id)s"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The trades in (`since`, `until`], or all, of a `period`; of a window it is None.

    Both bounds are an instant before those that a caller gives and gets: `since` <= created_at < `until`. A
    span that begins with the first trade, where there is none, is empty.
    """

    period: str | None
    since: datetime
    until: datetime
    is_empty: bool = False

    @property
    def is_all(self) -> bool:
        """Return whether it has all trades that there are."""
        return self.period == ALL

    @property
    def length(self) -> timedelta:
        """Return how long it is."""
        return self.until - self.since

    @property
    def begins_at(self) -> datetime:
        """Return the first instant in it."""
        return self.since + _INSTANT

    @property
    def ends_at(self) -> datetime:
        """Return the first instant after it."""
        return self.until + _INSTANT

    @property
    def bounds(self) -> dict[str, str]:
        """Return `since` and `until` as they are shown; of no trade, `until` alone."""
        since = {} if self.is_empty else {"since": exact_time(self.begins_at)}
        return since | {"until": exact_time(self.ends_at)}

    @property
    def stated(self) -> dict[str, Any]:
        """Return what data says of it: its bounds, or its period, whose bounds are `of_meta`."""
        return self.bounds if self.period is None else {"period": self.period, "of_meta": self.bounds}


def span_of_group(connection: Connection, now: datetime, given: Mapping[str, Any]) -> TimeSpan:
    """Return the span of a period or a window of a group, which may begin with its first trade."""
    group = group_parameters(given["blockchain"], given["type"])
    return span_of(now, given["period"], lambda: _ever(connection, _OF_GROUP, group))


def span_of_wallet(connection: Connection, now: datetime, wallet_id: int, period: Period) -> TimeSpan:
    """Return the span of a period or a window of a wallet, which may begin with its first trade."""
    return span_of(now, period, lambda: _ever(connection, _OF_WALLET, {"wallet_id": wallet_id}))


def _ever(connection: Connection, statement: LiteralString, parameters: dict[str, Any]) -> Times:
    row = connection.fetch_row(statement, parameters)
    return row["first_seen"], row["last_seen"]


def span_of(now: datetime, period: Period, ever: Ever = lambda: (None, None)) -> TimeSpan:
    """Return the span of a period that ends at `now`, in whole seconds, or of a window.

    `ever` returns the times of the first and of the newest trade, which only all trades, and a window without
    `since`, need.
    """
    now = now.replace(microsecond=0)
    if isinstance(period, str) and period != ALL:
        return TimeSpan(period, now - PERIOD_LENGTHS[period], now)
    bounds, name = (period, None) if isinstance(period, Bounds) else (Bounds(), period)
    # No trade is earlier. What is ahead of the clock is now.
    until = now if bounds.until is None else min(max(bounds.until, EARLIEST) - _INSTANT, now)
    if bounds.since is not None:
        return TimeSpan(name, min(max(bounds.since, EARLIEST), now) - _INSTANT, until)
    first, newest = ever()
    if name == ALL and newest is not None:
        until = max(until, newest)
    if first is None or first > until:
        return TimeSpan(name, until, until, is_empty=True)
    return TimeSpan(name, first - _INSTANT, until)
