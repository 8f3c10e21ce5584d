"""A cache of boards: each is computed once for all requests, and refreshed before it expires."""

import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from wallet_api.bulkhead import Bulkhead
from wallet_api.database import Connection, Database
from wallet_api.errors import ApiError
from wallet_api.single_flight import SingleFlight

log = logging.getLogger(__name__)

Board = TypeVar("Board")
# Blockchain, type and period.
Group = tuple[str, str, str]

# More would leave no connection to other requests.
_MAX_AT_ONCE = 2


@dataclass(frozen=True)
class Kept(Generic[Board]):
    """A board, computed since `made_at` in time.monotonic(); `cached` unless this request waited for it."""

    board: Board
    made_at: float
    cached: bool

    @property
    def cache_age_seconds(self) -> int:
        """Return the age of the figures; 0 if the request waited for them."""
        return int(time.monotonic() - self.made_at) if self.cached else 0


class BoardCache:
    """The boards of one process. None is older than `ttl_seconds` when a request arrives."""

    def __init__(self, database: Database, bulkhead: Bulkhead, ttl_seconds: float) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._ttl_seconds = ttl_seconds
        # At most one per name, group and period: bounded by the table of chains.
        self._boards: dict[tuple[str, Group], Kept[Any]] = {}
        self._flights: SingleFlight[Kept[Any]] = SingleFlight()
        self._executor = ThreadPoolExecutor(_MAX_AT_ONCE, thread_name_prefix="board")

    def get(
        self, name: str, read: Callable[[Connection, datetime, Group], Board], group: Group
    ) -> Kept[Board]:
        """Return the board of this name and group, which `read` returns. Raises what `read` raises."""
        key = (name, group)
        kept = self._boards.get(key)
        age = time.monotonic() - kept.made_at if kept else math.inf
        if kept is not None and age <= self._ttl_seconds / 2:
            return kept
        flight, is_new = self._flights.join(key)
        if is_new:
            self._flights.start(key, flight, partial(self._make, key, read), self._executor.submit)
        if kept is not None and age <= self._ttl_seconds:
            return kept
        made = self._bulkhead.result(flight)
        return Kept(made.board, made.made_at, cached=False)

    def close(self) -> None:
        """Start no further computation."""
        self._executor.shutdown(cancel_futures=True)

    def _make(self, key: tuple[str, Group], read: Callable[[Connection, datetime, Group], Any]) -> Kept[Any]:
        name, group = key
        started_at = time.monotonic()
        try:
            with self._database.read(in_background=True) as connection:
                kept = Kept(read(connection, datetime.now(UTC), group), started_at, cached=True)
        except ApiError as error:
            # A refresh ahead of time has no request to report the error to.
            log.warning("the %s of %s could not be made: %s", name, "/".join(group), error.message)
            raise
        self._boards[key] = kept
        return kept
