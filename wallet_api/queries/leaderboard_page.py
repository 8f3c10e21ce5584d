"""Pages of cached leaderboards."""

from bisect import bisect_right
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import SORTS, Entry, SortKey, order_of, rank_wallets, read_entries


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of an entry; an unknown figure is None."""

    figure: cursors.Figure | None
    wallet: cursors.Text

    def sort_key(self) -> SortKey:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


class Board:
    """The entries of a leaderboard, sorted for each order at its first request."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._by_sort = {SORTS[0]: rank_wallets(entries, SORTS[0])}

    def ranked(self, sort: str, min_txn: int) -> list[Entry]:
        """Return the entries with at least `min_txn` trades, the largest of this figure first."""
        ranked = self._by_sort.get(sort)
        if ranked is None:
            ranked = self._by_sort[sort] = rank_wallets(self._entries, sort)
        return ranked if min_txn <= 1 else [entry for entry in ranked if entry.total_txn >= min_txn]


def read_board(connection: Connection, now: datetime, blockchain: str, type: str, period: str) -> Board:
    """Return the board of a group in (`now` - period, `now`]."""
    return Board(read_entries(connection, now, blockchain, type, period))


def leaderboard_page(
    board: Board,
    blockchain: str,
    type: str,
    period: str,
    sort: str | None = None,
    min_txn: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Return at most `limit` entries of a board, after `cursor`. Without `sort` they are by volume.

    Raises InvalidParameter.
    """
    # The cursor is the same with and without the name of the default order.
    order, at_least = sort or SORTS[0], min_txn or 1
    scope = ("leaderboard", blockchain, type, period, order, str(at_least))
    after = cursors.decode(cursor, scope, _EntryKey) if cursor else None
    ranked = board.ranked(order, at_least)
    start = 0
    if after is not None:
        start = bisect_right(
            ranked, order_of(after.sort_key()), key=lambda entry: order_of(entry.sort_key(order))
        )
    end = len(ranked) if limit is None else start + limit
    shown = ranked[start:end]
    data: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "period": period,
        "currency": CHAINS[blockchain].currency,
        **({} if sort is None else {"sort": sort}),
        **({} if min_txn is None else {"min_txn": min_txn}),
        "leaderboard": [entry.json(rank) for rank, entry in enumerate(shown, start + 1)],
    }
    if limit is not None:
        has_more = end < len(ranked)
        last = _key(shown[-1].sort_key(order)) if has_more else None
        data["pagination"] = {
            "limit": limit,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": has_more,
        }
    return data


def _key(key: SortKey) -> _EntryKey:
    figure, wallet = key
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)
