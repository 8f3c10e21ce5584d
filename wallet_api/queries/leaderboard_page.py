"""Pages of cached leaderboards."""

from bisect import bisect_right
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.database import Connection
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import FILTERS, Board, SortKey, ordering, read_entries
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.spans import span_of_group


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of an entry; an unknown figure is None."""

    figure: str | None
    wallet: str

    def sort_key(self) -> SortKey:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


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
    filters = {name: bound for name, bound in given.items() if name in FILTERS}
    group = ("leaderboard", given["blockchain"], given["type"], str(given["period"]))
    scope = (*group, by, way, address or "", repr(sorted(filters.items() - {("min_txn", 1)})))
    after = cursors.decode_cursor(cursor, scope, _EntryKey) if cursor else None
    ranked = board.ranked(by, way, filters)
    start = 0
    if after is not None:
        start = bisect_right(
            ranked,
            ordering(after.sort_key(), way),
            key=lambda place: ordering(board.sort_key(by, place), way),
        )
    end = len(ranked) if limit is None else start + limit
    places = ranked[start:end]
    if address is not None:
        rank, end = board.rank(address, ranked), len(ranked)
        start, places = (0, []) if rank is None else (rank - 1, ranked[rank - 1 : rank])
    data: dict[str, Any] = {
        **{name: given[name] for name in ("blockchain", "type", "sort", "order", "address") if name in given},
        **board.span.stated,
        "currency": CHAINS[given["blockchain"]].currency,
        **board.native_price,
        **filters,
        "leaderboard": {**board.rows(places), "rank": [*range(start + 1, start + 1 + len(places))]},
    }
    if limit is not None:
        last = _key(board.sort_key(by, places[-1])) if end < len(ranked) else None
        data["pagination"] = cursors.pagination(scope, limit, last)
    return data


def _key(key: SortKey) -> _EntryKey:
    figure, wallet = key
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)
