"""create_app, which wires all parts together."""

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask, Request
from prometheus_client import CollectorRegistry
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import MapAdapter

from wallet_api import openapi, services
from wallet_api.access import gate
from wallet_api.access.current import Call
from wallet_api.blueprints import all_blueprints, metrics, status
from wallet_api.bulkhead import Bulkhead
from wallet_api.database import Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.kept import KeptValue
from wallet_api.queries.board_cache import BoardCache
from wallet_api.queries.wallet_counts import count_wallets
from wallet_api.responses import cached, cors, envelope, headers
from wallet_api.settings import Settings

_WALLET_COUNTS_SECONDS = 30.0
_HEALTH_SECONDS = 1.0


class _Flask(Flask):
    """Flask with the requests of the gate, and without two steps of each request that no view here needs."""

    request_class = Call

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Match the path alone: no route depends on the host."""
        if request is None:
            return super().create_url_adapter(None)
        return self.url_map.bind("", path_info=request.path, default_method=request.method)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself: no view is asynchronous."""
        return func


def create_app(settings: Settings | None = None) -> Flask:
    """Return the WSGI application. Raises SettingsError if the environment is invalid."""
    settings = settings or Settings.from_environment()
    app = _Flask("wallet_api", static_folder=None)
    # Both would respond with the framework's own pages: to OPTIONS, and to doubled slashes.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    database = Database(settings)
    registry = CollectorRegistry()
    bulkhead = Bulkhead(settings.web_threads)
    holdings_service = HoldingsService(settings, database, bulkhead, registry)
    boards = BoardCache(database, bulkhead, settings.leaderboard_ttl_seconds)
    if settings.proxy_hops:
        hops = settings.proxy_hops
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=0)  # type: ignore[method-assign]
    metrics.init_app(app, registry)
    headers.init_app(app)
    envelope.init_app(app)
    cors.init_app(app, settings.cors_origins.split(",") if settings.cors_origins else ())
    cached.init_app(app, settings.answer_ttl_seconds, settings.leaderboard_ttl_seconds, bulkhead)
    own_gate = gate.Gate(app, settings, database, envelope.refuse, registry)
    services.init_app(
        app,
        services.Services(
            settings=settings,
            database=database,
            gate=own_gate,
            boards=boards,
            holdings=holdings_service,
            registry=registry,
            wallet_counts=KeptValue(partial(_count_wallets, database), _WALLET_COUNTS_SECONDS),
            health=KeptValue(partial(status.measure_health, settings, database, own_gate), _HEALTH_SECONDS),
        ),
    )
    for blueprint in all_blueprints():
        app.register_blueprint(blueprint)
    openapi.check(app)
    return app


def _count_wallets(database: Database) -> dict[str, dict[str, int]]:
    with database.read() as connection:
        return count_wallets(connection)
