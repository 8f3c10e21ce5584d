"""The services that views use: settings, database, gate and caches of the current app."""

from dataclasses import dataclass
from typing import Any

from flask import Flask, current_app
from prometheus_client import CollectorRegistry

from wallet_api.access.gate import Gate
from wallet_api.database import Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.kept import KeptValue
from wallet_api.queries.board_cache import BoardCache
from wallet_api.queries.token_price import PriceRule
from wallet_api.settings import Settings

_KEY = "wallet_api"


@dataclass(frozen=True)
class Services:
    """The services of one app, made by create_app."""

    settings: Settings
    database: Database
    gate: Gate
    boards: BoardCache
    holdings: HoldingsService
    registry: CollectorRegistry
    wallet_counts: KeptValue[dict[str, dict[str, int]]]
    health: KeptValue[dict[str, Any]]

    @property
    def price_rule(self) -> PriceRule:
        """Which trades make prices of tokens, by the settings."""
        settings = self.settings
        return PriceRule(settings.token_price_min_value_usd, settings.token_price_max_age_seconds)

    def close(self) -> None:
        """End all threads, settle all charges and counts, and close all connections."""
        self.gate.close()
        self.boards.close()
        self.holdings.close()
        self.database.close()


def init_app(app: Flask, services: Services) -> None:
    """Register `services` with `app`."""
    app.extensions[_KEY] = services


def services() -> Services:
    """Return the services of the current app."""
    own: Services = current_app.extensions[_KEY]
    return own
