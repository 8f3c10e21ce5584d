"""Pages of cached leaderboards."""

from bisect import bisect_right
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.database import Connection, Row
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import (
    Entry,
    SortKey,
    ordering,
    rank_wallets,
    read_entries,
)
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.spans import TimeSpan, span_of_group


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of an entry; an unknown figure is None."""

    figure: str | None
    wallet: str

    def sort_key(self) -> SortKey:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


# The filters of a board by what they are compared with: figures, and parts in percent of a whole.
_LEAST = {
    "min_txn": "total_txn",
    "min_volume": "total_volume",
    "min_win_rate": "win_rate",
    "min_win_rate_low": "win_rate_low",
    "min_profit_factor": "profit_factor",
    "min_active_days": "active_days",
}
_MOST = {"max_fast_share": "fast_share", "max_drawdown": "max_drawdown"}
_PARTS = {
    "max_without_cost": ("period_stats_sold_without_cost", "period_stats_total_sell"),
    "max_open_cost": ("period_stats_open_cost", "ever_bought"),
}
_CLOSED = "min_closed"
_FILTERS = {*_LEAST, *_MOST, *_PARTS, _CLOSED}
BoardFilters = Mapping[str, Decimal | int]


def _passes(entry: Entry, name: str, bound: Decimal | int) -> bool:
    """Return whether the entry has what a filter requires, by the figures as shown."""
    if name in _PARTS:
        part, whole = (Fraction(entry.row[column]) for column in _PARTS[name])
        return 100 * part <= Fraction(bound) * whole
    if name in _MOST:
        return (entry.figure(_MOST[name]) or 0) <= bound
    if name == _CLOSED:
        return bool(entry.row["period_win_rate_distribution_closed_count"] >= bound)
    return (entry.figure(_LEAST[name]) or 0) >= bound


class Board:
    """The entries of a leaderboard, sorted for each order at its first request."""

    def __init__(self, entries: list[Entry], span: TimeSpan, native_price: Row) -> None:
        self.span = span
        self.native_price = native_price
        self._entries = entries
        self._ranked: dict[tuple[str, str], list[Entry]] = {}
        self._wallets = {entry.wallet: entry for entry in entries}
        self.ranked(BOARD_SORTS[0], ORDERS[0], {})

    def __len__(self) -> int:
        """Return how many wallets traded in the span."""
        return len(self._entries)

    def has(self, address: str) -> bool:
        """Return whether the wallet traded in the span."""
        return address in self._wallets

    def entry(self, address: str) -> Entry | None:
        """Return the entry of a wallet; None if it did not trade in the span."""
        return self._wallets.get(address)

    def ranked(self, sort: str, order: str, filters: BoardFilters) -> list[Entry]:
        """Return the entries that pass all filters, by this figure in this order."""
        ranked = self._ranked.get((sort, order))
        if ranked is None:
            ranked = self._ranked[sort, order] = rank_wallets(self._entries, sort, order)
        for name, bound in filters.items():
            ranked = [entry for entry in ranked if _passes(entry, name, bound)]
        return ranked


def read_board(
    connection: Connection, now: datetime, given: Mapping[str, Any], *, with_charts: bool = False
) -> Board:
    """Return the board of a group in a period that ends at `now`, or in a window.

    With charts, each is of the same snapshot as the figures of its entry.
    """
    native_price = read_native_price(connection, now, given["blockchain"])
    span = span_of_group(connection, now, given)
    entries = read_entries(connection, now, given, span, with_charts=with_charts)
    return Board(entries, span, native_price)


def leaderboard_page(board: Board, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return at most `limit` entries of a board after `cursor`, or the one of `address`.

    Without `sort` they are by volume, without `order` the largest first. Raises InvalidParameter.
    """
    # The cursor is the same with and without the names of the defaults.
    by, way = given.get("sort", BOARD_SORTS[0]), given.get("order", ORDERS[0])
    limit, cursor, address = (given.get(name) for name in ("limit", "cursor", "address"))
    filters = {name: bound for name, bound in given.items() if name in _FILTERS}
    group = ("leaderboard", given["blockchain"], given["type"], str(given["period"]))
    scope = (*group, by, way, address or "", repr(sorted(filters.items() - {("min_txn", 1)})))
    after = cursors.decode_cursor(cursor, scope, _EntryKey) if cursor else None
    ranked = board.ranked(by, way, filters)
    start = 0
    if after is not None:
        start = bisect_right(
            ranked, ordering(after.sort_key(), way), key=lambda entry: ordering(entry.sort_key(by), way)
        )
    end = len(ranked) if limit is None else start + limit
    shown = list(enumerate(ranked[start:end], start + 1))
    if address is not None:
        shown = [(rank, entry) for rank, entry in enumerate(ranked, 1) if entry.wallet == address]
        end = len(ranked)
    data: dict[str, Any] = {
        **{name: given[name] for name in ("blockchain", "type", "sort", "order", "address") if name in given},
        **board.span.stated,
        "currency": CHAINS[given["blockchain"]].currency,
        **board.native_price,
        **filters,
        "leaderboard": [{**entry.row, "rank": rank} for rank, entry in shown],
    }
    if limit is not None:
        last = _key(shown[-1][1].sort_key(by)) if end < len(ranked) else None
        data["pagination"] = cursors.pagination(scope, limit, last)
    return data


def _key(key: SortKey) -> _EntryKey:
    figure, wallet = key
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)
