"""The services that views use: database, gate and caches of the current app, made from its settings."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from flask import Flask, current_app
from prometheus_client import CollectorRegistry

from wallet_api.api.access.gate import Gate
from wallet_api.api.responses import large
from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.base.cache import Cache, Cached
from wallet_api.base.errors import ApiError
from wallet_api.base.recurring import Recurring
from wallet_api.database import Connection, Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.ledger import arrivals
from wallet_api.ledger.wallet import Wallet, find_wallet
from wallet_api.queries.board_copies import BoardCopies
from wallet_api.queries.groups import board_arguments
from wallet_api.queries.leaderboard import Board
from wallet_api.queries.paging import MAX_LIMIT
from wallet_api.queries.signals import size_of_signals
from wallet_api.queries.token_price import PriceRule
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

Computed = TypeVar("Computed")
_KEY = "wallet_api"
_WALLET_COUNTS_SECONDS = 10.0
_HEALTH_SECONDS = 1.0
# How many tokens a wallet has traded, by which large responses are known: a few more change nothing.
_TOKEN_COUNTS_SECONDS = 600.0
_TOKEN_COUNTS = 10_000
# The rows of windows that are kept, of some kB each.
_WINDOW_ROWS = 20_000
# What copiers of boards would have got is kept for so many times as long as a board, of so many boards.
_COPIES_TTLS = 10
_COPIES = 200
# The signals that are kept, and their wallets, of 2 to 3 kB each.
_SIGNALS = 20_000
# More would compete with requests for the processors.
_BOARDS_AT_ONCE = 2
# How long a change can wait for its place whose writer was killed.
_PLACING_SECONDS = 1.0


class Services:
    """The services of one app, of its settings."""

    def __init__(self, settings: Settings, demo_key_file: str | None) -> None:
        ttl_seconds = settings.leaderboard_ttl_seconds
        self.settings = settings
        self.price_rule = PriceRule(settings.token_price_min_value_usd, settings.token_price_max_age_seconds)
        self.cors_origins = settings.cors_origins.split(",") if settings.cors_origins else ()
        self.page_image_hosts = settings.page_image_hosts.split(",") if settings.page_image_hosts else ()
        self.demo_key_file = Path(demo_key_file) if demo_key_file else None
        self.database = Database(settings)
        self.registry = CollectorRegistry()
        self.bulkhead = Bulkhead(settings.web_threads)
        slot = self.bulkhead.slot
        self.gate = Gate(self.database, self.bulkhead, self.registry, settings)
        self.holdings = HoldingsService(
            settings, self.database, self.bulkhead, large.await_turn, self.registry
        )
        self.board_refreshers = ThreadPoolExecutor(_BOARDS_AT_ONCE, thread_name_prefix="board")
        self.boards: Cache[Any] = Cache(ttl_seconds, slot=slot, executor=self.board_refreshers)
        self.windows: Cache[Any] = Cache(
            ttl_seconds, max_size=_WINDOW_ROWS, size_of=_rows_of_board, slot=self.slow_slot
        )
        self.copies: Cache[BoardCopies] = Cache(_COPIES_TTLS * ttl_seconds, max_size=_COPIES)
        self.signals: Cache[dict[str, Any]] = Cache(
            ttl_seconds, max_size=_SIGNALS, size_of=size_of_signals, slot=slot
        )
        self.wallet_counts: Cache[dict[str, dict[str, int]]] = Cache(
            _WALLET_COUNTS_SECONDS, slot=slot, serve_stale=True
        )
        self.health: Cache[dict[str, Any]] = Cache(_HEALTH_SECONDS, serve_stale=True)
        self.token_counts: Cache[int] = Cache(_TOKEN_COUNTS_SECONDS, max_size=_TOKEN_COUNTS)
        self.placing = Recurring("placing", self._place_arrivals, _PLACING_SECONDS, ends_with_success=False)

    @contextmanager
    def slow_slot(self, *, wait: bool) -> Iterator[None]:
        """Take the slots of what is read of a window, of which few are read at a time. Raise Busy."""
        with self.bulkhead.slot(Wait.WINDOW, wait=wait), self.bulkhead.slot(wait=wait):
            yield

    def board(self, name: str, read: Callable[..., Computed], given: Mapping[str, Any]) -> Cached[Computed]:
        """Return what `read` returns for a group and a period, at most LEADERBOARD_TTL_SECONDS old.

        These are among the loaded arguments, of which it may read no others that `name` does not state. A
        window in place of the period waits for a place of its own, and few are kept.
        """
        group = board_arguments(given).values()

        def compute() -> Computed:
            try:
                with self.database.read() as connection:
                    return read(connection, datetime.now(UTC), given)
            except ApiError as error:
                # A refresh ahead of time has no request to report the error to.
                log.warning(
                    "The %s of %s was not computed: %s", name, "/".join(map(str, group)), error.message
                )
                raise

        kept = self.boards if isinstance(given["period"], str) else self.windows
        return kept.get((name, *group), compute)

    def _place_arrivals(self) -> None:
        with self.database.write() as connection:
            arrivals.place_left(connection)

    def demo_key(self) -> str | None:
        """Return the key of the demo, which its pages fill in; None without a demo."""
        file = self.demo_key_file
        return file.read_text().strip() if file is not None and file.exists() else None

    def close(self) -> None:
        """End all threads, settle all charges and counts, and close all connections."""
        self.gate.close()
        self.placing.close()
        self.board_refreshers.shutdown(cancel_futures=True)
        self.holdings.close()
        self.database.close()


def _rows_of_board(board: Any) -> int:
    """Return how many rows a board has at most: most traded tokens and buckets are at most a page."""
    return len(board) if isinstance(board, Board) else MAX_LIMIT


def init_app(app: Flask, services: Services) -> None:
    """Register `services` with `app`."""
    app.extensions[_KEY] = services


def services() -> Services:
    """Return the services of the current app."""
    registered: Services = current_app.extensions[_KEY]
    return registered


@contextmanager
def requested_wallet(given: Mapping[str, Any]) -> Iterator[tuple[Connection, Wallet, datetime]]:
    """Yield a connection for reading, the wallet of the loaded arguments, and the time.

    Raises WalletNotFound and DatabaseUnavailable.
    """
    with services().database.read() as connection:
        wallet = find_wallet(connection, given["blockchain"], given["address"], given.get("type"))
        yield connection, wallet, datetime.now(UTC)
