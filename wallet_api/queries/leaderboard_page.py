"""Pages of the leaderboards that a process keeps."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.queries import cursors
from wallet_api.queries.board_cache import BoardCache, Group, Kept
from wallet_api.queries.leaderboard import SORTS, Entry, Place, order_of, rank_wallets, read_entries


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """An entry's place in the order of the leaderboard; an unknown figure is None."""

    figure: cursors.Figure | None
    wallet: cursors.Text

    def place(self) -> Place:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


class _Board:
    """The entries of a leaderboard, sorted once for each order that is requested."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._by_sort = {SORTS[0]: rank_wallets(entries, SORTS[0])}

    def ranked(self, sort: str, min_txn: int) -> list[Entry]:
        """Return the entries with at least `min_txn` trades, the largest of this figure first."""
        ranked = self._by_sort.get(sort)
        if ranked is None:
            ranked = self._by_sort[sort] = rank_wallets(self._entries, sort)
        return ranked if min_txn <= 1 else [entry for entry in ranked if entry.total_txn >= min_txn]


@dataclass(frozen=True)
class _Order:
    """How a board is sorted, and which entries are left out; None where the caller gave nothing."""

    sort: str | None
    min_txn: int | None


@dataclass(frozen=True)
class Page:
    """A part of a leaderboard."""

    group: Group
    order: _Order
    kept: Kept[_Board]
    after: _EntryKey | None
    limit: int | None

    def data(self) -> dict[str, Any]:
        """The entries after the cursor, at most `limit`; all of them without."""
        blockchain, type, period = self.group
        sort = self.order.sort or SORTS[0]
        ranked = self.kept.board.ranked(sort, self.order.min_txn or 1)
        start = 0
        if self.after is not None:
            start = bisect_right(
                ranked, order_of(self.after.place()), key=lambda entry: order_of(entry.place(sort))
            )
        end = len(ranked) if self.limit is None else start + self.limit
        shown = ranked[start:end]
        given = {"sort": self.order.sort, "min_txn": self.order.min_txn}
        data: dict[str, Any] = {
            "blockchain": blockchain,
            "type": type,
            "period": period,
            "currency": CHAINS[blockchain].currency,
            **{name: value for name, value in given.items() if value is not None},
            "leaderboard": [entry.json(rank) for rank, entry in enumerate(shown, start + 1)],
        }
        if self.limit is not None:
            has_more = end < len(ranked)
            last = _key(shown[-1].place(sort)) if has_more else None
            data["pagination"] = {
                "limit": self.limit,
                "next_cursor": cursors.encode(_scope(self.group, self.order), last) if last else None,
                "has_more": has_more,
            }
        return data


def leaderboard_page(
    boards: BoardCache,
    blockchain: str,
    type: str,
    period: str,
    sort: str | None = None,
    min_txn: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Page:
    """Return the page after `cursor`, or the first one. Raises InvalidParameter.

    One board serves every order. Without `sort` it is by volume.
    """
    group, order = (blockchain, type, period), _Order(sort, min_txn)
    after = cursors.decode(cursor, _scope(group, order), _EntryKey) if cursor else None
    return Page(group, order, boards.get("leaderboard", _read, group), after, limit)


def _read(connection: Connection, now: datetime, group: Group) -> _Board:
    return _Board(read_entries(connection, now, *group))


def _key(place: Place) -> _EntryKey:
    figure, wallet = place
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)


def _scope(group: Group, order: _Order) -> cursors.Scope:
    # A request that names the default order continues one that does not.
    return ("leaderboard", *group, order.sort or SORTS[0], str(order.min_txn or 1))
