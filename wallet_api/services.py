"""What the views reach beyond the request: this app's settings, database, gate, and what it keeps."""

from dataclasses import dataclass

from flask import Flask, current_app
from prometheus_client import CollectorRegistry

from wallet_api.access.gate import Gate
from wallet_api.database import Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.queries.board_cache import BoardCache
from wallet_api.settings import Settings

_KEY = "wallet_api"


@dataclass(frozen=True)
class Services:
    """One app's own, made by create_app; nothing here is shared between two apps."""

    settings: Settings
    database: Database
    gate: Gate
    leaderboards: BoardCache
    holdings: HoldingsService
    registry: CollectorRegistry

    def close(self) -> None:
        """End all threads, settle all charges and counts, and close all connections."""
        self.gate.close()
        self.leaderboards.close()
        self.holdings.close()
        self.database.close()


def init_app(app: Flask, services: Services) -> None:
    """Lend `services` to the views of `app`."""
    app.extensions[_KEY] = services


def services() -> Services:
    """The services of the app that handles this request."""
    own: Services = current_app.extensions[_KEY]
    return own
