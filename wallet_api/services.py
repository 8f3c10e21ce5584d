"""The services that views use: settings, database, gate and caches of the current app."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from flask import Flask, current_app
from prometheus_client import CollectorRegistry

from wallet_api.access.gate import Gate
from wallet_api.bulkhead import Bulkhead
from wallet_api.cache import Cache, Cached
from wallet_api.database import Database
from wallet_api.errors import ApiError
from wallet_api.holdings.service import HoldingsService
from wallet_api.queries.token_price import PriceRule
from wallet_api.recurring import Recurring
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

Board = TypeVar("Board")
_KEY = "wallet_api"


@dataclass(frozen=True)
class Services:
    """The services of one app, made by create_app."""

    settings: Settings
    database: Database
    bulkhead: Bulkhead
    gate: Gate
    holdings: HoldingsService
    registry: CollectorRegistry
    boards: Cache[Any]
    board_refreshers: ThreadPoolExecutor
    signals: Cache[dict[str, Any]]
    wallet_counts: Cache[dict[str, dict[str, int]]]
    health: Cache[dict[str, Any]]
    placing: Recurring
    token_counts: Cache[int]
    demo_key_file: Path | None

    @property
    def price_rule(self) -> PriceRule:
        """Return which trades make prices of tokens, according to the settings."""
        settings = self.settings
        return PriceRule(settings.token_price_min_value_usd, settings.token_price_max_age_seconds)

    def board(self, name: str, read: Callable[..., Board], *group: str) -> Cached[Board]:
        """Return what `read` returns for a chain, type and period, at most LEADERBOARD_TTL_SECONDS old."""

        def compute() -> Board:
            try:
                with self.database.read() as connection:
                    return read(connection, datetime.now(UTC), *group)
            except ApiError as error:
                # A refresh ahead of time has no request to report the error to.
                log.warning("The %s of %s was not computed: %s", name, "/".join(group), error.message)
                raise

        return self.boards.get((name, *group), compute)

    def close(self) -> None:
        """End all threads, settle all charges and counts, and close all connections."""
        self.gate.close()
        self.placing.close()
        self.board_refreshers.shutdown(cancel_futures=True)
        self.holdings.close()
        self.database.close()


def init_app(app: Flask, services: Services) -> None:
    """Register `services` with `app`."""
    app.extensions[_KEY] = services


def services() -> Services:
    """Return the services of the current app."""
    registered: Services = current_app.extensions[_KEY]
    return registered
