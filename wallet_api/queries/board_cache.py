"""Leaderboards kept for a while: each is made once for all requests, and refreshed before it expires."""

import logging
import math
import time
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec

from wallet_api.blocking import about_to_block
from wallet_api.bulkhead import Bulkhead
from wallet_api.chains import CHAINS
from wallet_api.database import Database
from wallet_api.errors import ApiError
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import SORTS, Entry, Place, order_of, rank_wallets, read_entries
from wallet_api.single_flight import SingleFlight

log = logging.getLogger(__name__)

_Group = tuple[str, str, str]

# More would take all connections from other requests.
_MAX_AT_ONCE = 2


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """An entry's place in the order of the leaderboard; an unknown figure is None."""

    figure: cursors.Figure | None
    wallet: cursors.Text

    def place(self) -> Place:
        return (None if self.figure is None else Decimal(self.figure), self.wallet)


class _Board:
    """The entries of a leaderboard, sorted once for each order that is requested."""

    def __init__(self, entries: list[Entry], made_at: float) -> None:
        self.made_at = made_at
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
    """A part of a leaderboard, made at a time.monotonic(); not `cached` if this request waited for it."""

    group: _Group
    order: _Order
    board: _Board
    after: _EntryKey | None
    limit: int | None
    cached: bool

    @property
    def made_at(self) -> float:
        """When work on the leaderboard began."""
        return self.board.made_at

    @property
    def cache_age_seconds(self) -> int:
        """How old the figures are; 0 if the call waited for them."""
        return int(time.monotonic() - self.made_at) if self.cached else 0

    def data(self) -> dict[str, Any]:
        """The entries after the cursor, at most `limit`; all of them without."""
        blockchain, type, period = self.group
        sort = self.order.sort or SORTS[0]
        ranked = self.board.ranked(sort, self.order.min_txn or 1)
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


class BoardCache:
    """The leaderboards of one process, none older than `ttl_seconds` when answered."""

    def __init__(self, database: Database, bulkhead: Bulkhead, ttl_seconds: float) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._ttl_seconds = ttl_seconds
        # At most one per group and period: bounded by the table of chains.
        self._boards: dict[_Group, _Board] = {}
        self._flights: SingleFlight[_Board] = SingleFlight()
        self._executor = ThreadPoolExecutor(_MAX_AT_ONCE, thread_name_prefix="leaderboard")

    def page(
        self,
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
        board, cached = self._board(group)
        return Page(group, order, board, after, limit, cached)

    def close(self) -> None:
        """Make no more boards."""
        self._executor.shutdown(cancel_futures=True)

    def _board(self, group: _Group) -> tuple[_Board, bool]:
        board = self._boards.get(group)
        age = time.monotonic() - board.made_at if board else math.inf
        if board is not None and age <= self._ttl_seconds / 2:
            return board, True
        flight, is_new = self._flights.join(group)
        if is_new:
            self._flights.start(group, flight, partial(self._make, group), self._executor.submit)
        if board is not None and age <= self._ttl_seconds:
            return board, True
        with self._bulkhead.room():
            about_to_block()
            return flight.result(), False

    def _make(self, group: _Group) -> _Board:
        started_at = time.monotonic()
        try:
            with self._database.read() as connection:
                board = _Board(read_entries(connection, datetime.now(UTC), *group), started_at)
        except ApiError as error:
            # Nobody may be waiting for this: a board made ahead of need fails in silence otherwise.
            log.warning("the leaderboard of %s could not be made: %s", "/".join(group), error.message)
            raise
        self._boards[group] = board
        return board


def _key(place: Place) -> _EntryKey:
    figure, wallet = place
    return _EntryKey(None if figure is None else f"{figure:f}", wallet)


def _scope(group: _Group, order: _Order) -> cursors.Scope:
    # A request that names the default order continues one that does not.
    return ("leaderboard", *group, order.sort or SORTS[0], str(order.min_txn or 1))
