"""Pages of cached leaderboards."""

from bisect import bisect_right
from dataclasses import astuple, dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.orders import BOARD_SORTS, ORDERS
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import (
    Entry,
    SortKey,
    order_of,
    rank_wallets,
    read_entries,
)
from wallet_api.queries.native_price import read_native_price


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of an entry; an unknown figure is None."""

    figure: str | None
    wallet: str

    def sort_key(self) -> SortKey:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


@dataclass(frozen=True, slots=True)
class BoardFilters:
    """What an entry must have to be ranked; None is not compared."""

    min_txn: int = 1
    min_volume: Decimal | None = None
    min_closed: int | None = None
    min_win_rate: Decimal | None = None
    max_without_cost: Decimal | None = None
    max_open_cost: Decimal | None = None
    min_win_rate_low: Decimal | None = None
    min_profit_factor: Decimal | None = None
    min_active_days: int | None = None
    max_fast_share: Decimal | None = None
    max_drawdown: Decimal | None = None

    def let_pass(self, entry: Entry) -> bool:
        """Return whether the entry has all of it, by the figures as shown."""
        least = (
            (self.min_txn, entry.figure("total_txn")),
            (self.min_volume, entry.figure("total_volume")),
            (self.min_closed, entry.row["period_win_rate_distribution_closed_count"]),
            (self.min_win_rate, entry.figure("win_rate")),
            (self.min_win_rate_low, entry.figure("win_rate_low")),
            (self.min_profit_factor, entry.figure("profit_factor")),
            (self.min_active_days, entry.figure("active_days")),
        )
        most = (
            (self.max_fast_share, entry.figure("fast_share")),
            (self.max_drawdown, entry.figure("max_drawdown")),
        )
        row = entry.row
        parts = (
            (self.max_without_cost, row["period_stats_sold_without_cost"], row["period_stats_total_sell"]),
            (self.max_open_cost, row["period_stats_open_cost"], row["ever_bought"]),
        )
        return (
            all(bound is None or (figure or 0) >= bound for bound, figure in least)
            and all(bound is None or (figure or 0) <= bound for bound, figure in most)
            and all(
                percent is None or 100 * Fraction(part) <= Fraction(percent) * Fraction(whole)
                for percent, part, whole in parts
            )
        )


NO_FILTERS = BoardFilters()


class Board:
    """The entries of a leaderboard, sorted for each order at its first request."""

    def __init__(self, entries: list[Entry], native_price_usd: Decimal | None = None) -> None:
        self.native_price_usd = native_price_usd
        self._entries = entries
        self._ranked: dict[tuple[str, str], list[Entry]] = {}
        self._wallets = {entry.wallet for entry in entries}
        self.ranked(BOARD_SORTS[0], ORDERS[0], NO_FILTERS)

    def __len__(self) -> int:
        """Return how many wallets traded in the period."""
        return len(self._entries)

    def has(self, address: str) -> bool:
        """Return whether the wallet traded in the period."""
        return address in self._wallets

    def ranked(self, sort: str, order: str, filters: BoardFilters) -> list[Entry]:
        """Return the entries that the filters let pass, by this figure in this order."""
        ranked = self._ranked.get((sort, order))
        if ranked is None:
            ranked = self._ranked[sort, order] = rank_wallets(self._entries, sort, order)
        return [entry for entry in ranked if filters.let_pass(entry)] if filters != NO_FILTERS else ranked


def read_board(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    period: str,
    *,
    with_charts: bool = False,
) -> Board:
    """Return the board of a group in (`now` - period, `now`], or of all its trades.

    With charts, each is of the same snapshot as the figures of its entry.
    """
    native_price_usd = read_native_price(connection, now, blockchain)
    entries = read_entries(connection, now, blockchain, type, period, with_charts=with_charts)
    return Board(entries, native_price_usd)


def leaderboard_page(
    board: Board,
    blockchain: str,
    type: str,
    period: str,
    sort: str | None = None,
    order: str | None = None,
    address: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    **filters: Any,
) -> dict[str, Any]:
    """Return at most `limit` entries of a board after `cursor`, or the one of `address`.

    Without `sort` they are by volume, without `order` the largest first. `filters` are those of BoardFilters.
    Raises InvalidParameter.
    """
    given = BoardFilters(**filters)
    # The cursor is the same with and without the names of the defaults.
    by, way = sort or BOARD_SORTS[0], order or ORDERS[0]
    scope = ("leaderboard", blockchain, type, period, by, way, address or "", repr(astuple(given)))
    after = cursors.decode(cursor, scope, _EntryKey) if cursor else None
    ranked = board.ranked(by, way, given)
    start = 0
    if after is not None:
        start = bisect_right(
            ranked, order_of(after.sort_key(), way), key=lambda entry: order_of(entry.sort_key(by), way)
        )
    end = len(ranked) if limit is None else start + limit
    shown = list(enumerate(ranked[start:end], start + 1))
    if address is not None:
        shown = [(rank, entry) for rank, entry in enumerate(ranked, 1) if entry.wallet == address]
        end = len(ranked)
    choice = {"sort": sort, "order": order, "address": address}
    data: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "period": period,
        "currency": CHAINS[blockchain].currency,
        "native_price_usd": board.native_price_usd,
        **{name: value for name, value in choice.items() if value is not None},
        **filters,
        "leaderboard": [{**entry.row, "rank": rank} for rank, entry in shown],
    }
    if limit is not None:
        has_more = end < len(ranked)
        last = _key(shown[-1][1].sort_key(by)) if has_more else None
        data["pagination"] = {
            "limit": limit,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": has_more,
        }
    return data


def _key(key: SortKey) -> _EntryKey:
    figure, wallet = key
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)
