"""The services that views use: database, gate and caches of the current app, made from its settings."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from flask import Flask, current_app
from prometheus_client import CollectorRegistry

from wallet_api.api.access.gate import Gate
from wallet_api.api.access.scrapers import Scrapers
from wallet_api.api.responses import large
from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.base.cache import Cache, Cached
from wallet_api.base.errors import ApiError
from wallet_api.base.recurring import Recurring
from wallet_api.database import Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.ledger import arrivals
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


@dataclass(frozen=True)
class Services:
    """The services of one app."""

    database: Database
    bulkhead: Bulkhead
    gate: Gate
    scrapers: Scrapers
    holdings: HoldingsService
    registry: CollectorRegistry
    boards: Cache[Any]
    windows: Cache[Any]
    copies: Cache[BoardCopies]
    slow_slot: Callable[..., AbstractContextManager[None]]
    board_refreshers: ThreadPoolExecutor
    signals: Cache[dict[str, Any]]
    wallet_counts: Cache[dict[str, dict[str, int]]]
    health: Cache[dict[str, Any]]
    placing: Recurring
    token_counts: Cache[int]
    price_rule: PriceRule
    history_type: str
    has_page: bool
    cors_origins: Sequence[str]
    page_image_hosts: tuple[str, ...]
    demo_key_file: Path | None

    @classmethod
    def from_settings(cls, settings: Settings, demo_key_file: str | None) -> Self:
        """Return the services of these settings, which nothing reads later."""
        database = Database(settings)
        registry = CollectorRegistry()
        bulkhead = Bulkhead(settings.web_threads)
        ttl_seconds = settings.leaderboard_ttl_seconds
        board_refreshers = ThreadPoolExecutor(_BOARDS_AT_ONCE, thread_name_prefix="board")

        @contextmanager
        def slow_slot(*, wait: bool) -> Iterator[None]:
            with bulkhead.slot(Wait.WINDOW, wait=wait), bulkhead.slot(wait=wait):
                yield

        def place_arrivals() -> None:
            with database.write() as connection:
                arrivals.place_left(connection)

        return cls(
            database=database,
            bulkhead=bulkhead,
            gate=Gate(database, bulkhead, registry, settings),
            scrapers=Scrapers(settings.metrics_token, settings.metrics_networks),
            holdings=HoldingsService(settings, database, bulkhead, large.await_turn, registry),
            registry=registry,
            boards=Cache(ttl_seconds, slot=bulkhead.slot, executor=board_refreshers),
            windows=Cache(ttl_seconds, max_size=_WINDOW_ROWS, size_of=_rows_of_board, slot=slow_slot),
            copies=Cache(_COPIES_TTLS * ttl_seconds, max_size=_COPIES),
            slow_slot=slow_slot,
            board_refreshers=board_refreshers,
            signals=Cache(ttl_seconds, max_size=_SIGNALS, size_of=size_of_signals, slot=bulkhead.slot),
            wallet_counts=Cache(_WALLET_COUNTS_SECONDS, slot=bulkhead.slot, serve_stale=True),
            health=Cache(_HEALTH_SECONDS, serve_stale=True),
            token_counts=Cache(_TOKEN_COUNTS_SECONDS, max_size=_TOKEN_COUNTS),
            placing=Recurring("placing", place_arrivals, _PLACING_SECONDS, ends_with_success=False),
            price_rule=PriceRule(settings.token_price_min_value_usd, settings.token_price_max_age_seconds),
            history_type=settings.history_type,
            has_page=settings.page,
            cors_origins=settings.cors_origins.split(",") if settings.cors_origins else (),
            page_image_hosts=tuple(settings.page_image_hosts.split(",")) if settings.page_image_hosts else (),
            demo_key_file=Path(demo_key_file) if demo_key_file else None,
        )

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
