"""The ranked wallets of a group over a period."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from wallet_api.base.chains import ALL_TYPES
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.database import Columns, Connection, Row, load_sql, rows_at, rows_of, shared
from wallet_api.queries.board_charts import NO_STEPS, steps_of
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.spans import TimeSpan
from wallet_api.queries.windows import cut_period

_LEADERBOARD = load_sql(__package__, "leaderboard")
_LEADERBOARD_ALL = load_sql(__package__, "leaderboard_all")
_READ_SINCE = load_sql(__package__, "read_since")

# A figure, or None if it is unknown, and the address.
SortKey = tuple[Decimal | None, str]
BoardFilters = Mapping[str, Decimal | int]

_COLUMNS = {
    sort: "period_win_rate_distribution_win_rate_percentage" if sort == "win_rate" else f"period_stats_{sort}"
    for sort in BOARD_SORTS
} | {"closed_count": "period_win_rate_distribution_closed_count"}
# The filters of a board by what they are compared with: figures, and parts in percent of a whole.
_LEAST = {
    "min_txn": "total_txn",
    "min_volume": "total_volume",
    "min_win_rate": "win_rate",
    "min_win_rate_low": "win_rate_low",
    "min_profit_factor": "profit_factor",
    "min_active_days": "active_days",
    "min_closed": "closed_count",
}
_MOST = {"max_fast_share": "fast_share", "max_drawdown": "max_drawdown"}
_PARTS = {
    "max_without_cost": ("period_stats_sold_without_cost", "period_stats_total_sell"),
    "max_open_cost": ("period_stats_open_cost", "ever_bought"),
}
# The arguments that leave entries out.
FILTERS = {*_LEAST, *_MOST, *_PARTS}


def ordering(key: SortKey, order: str) -> tuple[bool, Decimal, str]:
    """Return a key that sorts figures in this order, unknown ones last, and ties by address."""
    figure, wallet = key
    if figure is None:
        return True, Decimal(0), wallet
    # Exact, unlike a minus sign, which rounds.
    return False, figure if order == "asc" else figure.copy_negate(), wallet


class Board:
    """The entries of a leaderboard by their places, sorted for each order at its first request.

    Kept are columns of texts, which take half of the memory of rows of decimals.
    """

    def __init__(self, entries: Columns, span: TimeSpan, native_price: Row) -> None:
        self.span = span
        self.native_price = native_price
        self._entries = entries
        self._ranked: dict[tuple[str, str], list[int]] = {}
        self._places = {address: place for place, address in enumerate(entries["wallet"])}
        self.ranked(BOARD_SORTS[0], ORDERS[0], {})

    def __len__(self) -> int:
        """Return how many wallets traded in the span."""
        return len(self._entries["wallet"])

    def has(self, address: str) -> bool:
        """Return whether the wallet traded in the span."""
        return address in self._places

    def entry(self, address: str) -> Row | None:
        """Return the row of a wallet; None if it did not trade in the span."""
        return rows_of(self.rows([self._places[address]]))[0] if self.has(address) else None

    def rows(self, places: Sequence[int]) -> Columns:
        """Return the rows of the entries at these places."""
        return rows_at(self._entries, places)

    def ranked(self, sort: str, order: str, filters: BoardFilters) -> list[int]:
        """Return the places of the entries that pass all filters, by this figure in this order."""
        ranked = self._ranked.get((sort, order))
        if ranked is None:
            places = range(len(self))
            ranked = sorted(places, key=lambda place: ordering(self.sort_key(sort, place), order))
            self._ranked[sort, order] = ranked
        for name, bound in filters.items():
            ranked = [place for place in ranked if self._passes(place, name, bound)]
        return ranked

    def rank(self, address: str, ranked: Sequence[int]) -> int | None:
        """Return the rank of a wallet among `ranked` places, from 1; None if it is not there."""
        place = self._places.get(address)
        return next((rank for rank, each in enumerate(ranked, 1) if each == place), None)

    def sort_key(self, sort: str, place: int) -> SortKey:
        """Return the figure and the address by which an entry is sorted."""
        return self._figure(sort, place), self._entries["wallet"][place]

    def _figure(self, name: str, place: int) -> Decimal | None:
        """Return a figure, or None if it is unknown; a profit factor without a loss is infinite."""
        text = self._entries[_COLUMNS[name]][place]
        if text is not None:
            return Decimal(text)
        return Decimal("Infinity") if name == "profit_factor" else None

    def _passes(self, place: int, name: str, bound: Decimal | int) -> bool:
        """Return whether an entry has what a filter requires, by the figures as shown."""
        if name in _PARTS:
            part, whole = (Fraction(self._entries[column][place]) for column in _PARTS[name])
            return 100 * part <= Fraction(bound) * whole
        if name in _MOST:
            return (self._figure(_MOST[name], place) or 0) <= bound
        return (self._figure(_LEAST[name], place) or 0) >= bound


def read_entries(
    connection: Connection,
    now: datetime,
    given: Mapping[str, Any],
    span: TimeSpan,
    *,
    with_charts: bool = False,
) -> Columns:
    """Return all wallets of a group that traded in a span, in any order; in dollars by the price at `now`.

    Those of all types have theirs in their profiles.
    """
    steps = steps_of(span) if with_charts else None
    parameters = {**group_parameters(given["blockchain"], given["type"]), "now": now}
    parameters |= steps.parameters(now) if steps else NO_STEPS
    since = "-infinity" if span.is_all else span.since
    # Of few wallets, so that no board is joined with them.
    partly = {
        row["address"]: row["history_since"]
        for row in connection.execute(_READ_SINCE, parameters | {"since": since})
    }
    if span.is_all:
        columns = connection.fetch_columns(_LEADERBOARD_ALL, parameters)
    else:
        columns = connection.fetch_columns(_LEADERBOARD, parameters | cut_period(span.since, span.until))
    changes = columns.pop("chart_places"), columns.pop("chart_profits")
    # Many figures are 0.
    columns = shared(columns)
    if steps:
        columns |= steps.charts(*changes)
    if partly:
        columns["history_since"] = [partly.get(address) for address in columns["wallet"]]
    if given["type"] != ALL_TYPES:
        # It is that of the board.
        del columns["profile_type"]
    return columns
