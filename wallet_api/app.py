"""create_app, which wires all parts together."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flask import Flask
from prometheus_client import CollectorRegistry
from werkzeug.middleware.proxy_fix import ProxyFix

from wallet_api import openapi, services
from wallet_api.access import gate
from wallet_api.access.current import ApiRequest
from wallet_api.blueprints import all_blueprints
from wallet_api.bulkhead import Bulkhead
from wallet_api.cache import Cache
from wallet_api.database import Database
from wallet_api.holdings.service import HoldingsService
from wallet_api.ledger import arrivals
from wallet_api.recurring import Recurring
from wallet_api.responses import cached, cors, counters, envelope, headers, large, seals
from wallet_api.settings import Settings

# Imported with this module, which gunicorn does before it starts workers.
_BLUEPRINTS = tuple(all_blueprints())
_WALLET_COUNTS_SECONDS = 30.0
_HEALTH_SECONDS = 1.0
# How long a change can wait for its place whose writer was killed.
_PLACING_SECONDS = 1.0
# How many tokens a wallet has traded, by which large responses are known: a few more change nothing.
_TOKEN_COUNTS_SECONDS = 600.0
_TOKEN_COUNTS = 10_000
# Signals of many wallets have a megabyte.
_SIGNALS = 16
# More would compete with requests for the processors.
_BOARDS_AT_ONCE = 2


def create_app(settings: Settings | None = None, *, demo_key_file: str | None = None) -> Flask:
    """Return the WSGI application. Raises SettingsError if the environment is invalid.

    The key in `demo_key_file` is filled in on the page at /docs; only `wallet-api up` with the demo has one.
    """
    settings = settings or Settings.from_environment()
    app = Flask("wallet_api", static_folder=None)
    app.request_class = ApiRequest
    # Flask would respond to OPTIONS, and to doubled slashes, with its own pages.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    database = Database(settings)
    registry = CollectorRegistry()
    bulkhead = Bulkhead(settings.web_threads)
    holdings_service = HoldingsService(settings, database, bulkhead, large.await_turn, registry)

    def place_arrivals() -> None:
        with database.write() as connection:
            arrivals.place_left(connection)

    board_refreshers = ThreadPoolExecutor(_BOARDS_AT_ONCE, thread_name_prefix="board")
    if settings.proxy_hops:
        hops = settings.proxy_hops
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=0)  # type: ignore[method-assign]
    counters.init_app(app, registry)
    headers.init_app(app)
    envelope.init_app(app)
    cors.init_app(app, settings.cors_origins.split(",") if settings.cors_origins else ())
    cached.init_app(app, settings.answer_ttl_seconds, settings.leaderboard_ttl_seconds, bulkhead)
    large.init_app(app)
    seals.init_app(app, database, bulkhead)
    access_gate = gate.Gate(app, settings, database, bulkhead, envelope.refuse, registry)
    services.init_app(
        app,
        services.Services(
            settings=settings,
            database=database,
            bulkhead=bulkhead,
            gate=access_gate,
            holdings=holdings_service,
            registry=registry,
            boards=Cache(settings.leaderboard_ttl_seconds, slot=bulkhead.slot, executor=board_refreshers),
            board_refreshers=board_refreshers,
            signals=Cache(settings.leaderboard_ttl_seconds, max_size=_SIGNALS, slot=bulkhead.slot),
            wallet_counts=Cache(_WALLET_COUNTS_SECONDS, slot=bulkhead.slot, serve_stale=True),
            health=Cache(_HEALTH_SECONDS, serve_stale=True),
            token_counts=Cache(_TOKEN_COUNTS_SECONDS, max_size=_TOKEN_COUNTS),
            placing=Recurring("placing", place_arrivals, _PLACING_SECONDS, ends_with_success=False),
            demo_key_file=Path(demo_key_file) if demo_key_file else None,
        ),
    )
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    openapi.check(app)
    return app
