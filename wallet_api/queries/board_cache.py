"""BoardCache kept for a while: each is made once for all who ask, and refreshed before it expires."""

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
from wallet_api.chains import CHAINS
from wallet_api.database import Database
from wallet_api.errors import ApiError
from wallet_api.queries import cursors
from wallet_api.queries.leaderboard import Entry, rank_wallets
from wallet_api.single_flight import SingleFlight

log = logging.getLogger(__name__)

_Group = tuple[str, str, str]

# More would take all connections from other requests.
_MAX_AT_ONCE = 2


class _EntryKey(msgspec.Struct, array_like=True, frozen=True):
    """An entry's place in the order of the leaderboard."""

    total_volume: cursors.Figure
    wallet: cursors.Text

    def order(self) -> tuple[Decimal, str]:
        return (-Decimal(self.total_volume), self.wallet)


@dataclass(frozen=True)
class _Board:
    entries: list[Entry]
    made_at: float


@dataclass(frozen=True)
class Page:
    """A part of a leaderboard, made at a time.monotonic(); not `cached` if this call waited for it."""

    group: _Group
    entries: list[Entry]
    after: _EntryKey | None
    limit: int | None
    made_at: float
    cached: bool

    @property
    def cache_age_seconds(self) -> int:
        """How old the figures are; 0 if the call waited for them."""
        return int(time.monotonic() - self.made_at) if self.cached else 0

    def data(self) -> dict[str, Any]:
        """The entries after the cursor, at most `limit`; all of them without."""
        blockchain, type, period = self.group
        start = 0
        if self.after is not None:
            start = bisect_right(
                self.entries, self.after.order(), key=lambda entry: (-entry.total_volume, entry.wallet)
            )
        end = len(self.entries) if self.limit is None else start + self.limit
        shown = self.entries[start:end]
        data: dict[str, Any] = {
            "blockchain": blockchain,
            "type": type,
            "period": period,
            "currency": CHAINS[blockchain].currency,
            "leaderboard": [entry.json for entry in shown],
        }
        if self.limit is not None:
            has_more = end < len(self.entries)
            last = _EntryKey(f"{shown[-1].total_volume:f}", shown[-1].wallet) if has_more else None
            data["pagination"] = {
                "limit": self.limit,
                "next_cursor": cursors.encode(_scope(self.group), last) if last else None,
                "has_more": has_more,
            }
        return data


class BoardCache:
    """The leaderboards of one process, none older than `ttl_seconds` when answered."""

    def __init__(self, database: Database, ttl_seconds: float) -> None:
        self._database = database
        self._ttl_seconds = ttl_seconds
        # At most one per group and period: bounded by the table of chains.
        self._boards: dict[_Group, _Board] = {}
        self._flights: SingleFlight[_Board] = SingleFlight()
        self._executor = ThreadPoolExecutor(_MAX_AT_ONCE, thread_name_prefix="leaderboard")

    def page(
        self, blockchain: str, type: str, period: str, limit: int | None = None, cursor: str | None = None
    ) -> Page:
        """Return the page after `cursor`, or the first one. Raises InvalidParameter."""
        group = (blockchain, type, period)
        after = cursors.decode(cursor, _scope(group), _EntryKey) if cursor else None
        board, cached = self._board(group)
        return Page(group, board.entries, after, limit, board.made_at, cached)

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
            self._executor.submit(self._flights.run, group, flight, partial(self._make, group))
        if board is not None and age <= self._ttl_seconds:
            return board, True
        about_to_block()
        return flight.result(), False

    def _make(self, group: _Group) -> _Board:
        started_at = time.monotonic()
        try:
            with self._database.read() as connection:
                board = _Board(rank_wallets(connection, datetime.now(UTC), *group), started_at)
        except ApiError as error:
            # Nobody may be waiting for this: a board made ahead of need fails in silence otherwise.
            log.warning("the leaderboard of %s could not be made: %s", "/".join(group), error.message)
            raise
        self._boards[group] = board
        return board


def _scope(group: _Group) -> cursors.Scope:
    return ("leaderboard", *group)
