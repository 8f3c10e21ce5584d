"""create_app, which wires all parts together."""

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from wallet_api.api import openapi, services
from wallet_api.api.access.current import ApiRequest
from wallet_api.api.blueprints import all_blueprints, metrics
from wallet_api.api.responses import (
    cached,
    cors,
    counters,
    cursor_seals,
    dollars,
    envelope,
    headers,
    large,
    operator,
)
from wallet_api.chain.sync.metrics import sync_metrics
from wallet_api.notify.metrics import notify_metrics
from wallet_api.settings import Settings, SettingsError

# Imported with this module, which gunicorn does before it starts workers.
_BLUEPRINTS = tuple(all_blueprints())


def create_app(settings: Settings | None = None, *, demo_key_file: str | None = None) -> Flask:
    """Return the WSGI application. Raises SettingsError if the environment is invalid.

    The pages at / and /docs fill in the key in `demo_key_file`; only `wallet-api up` with the demo has one.
    """
    settings = settings or Settings.from_environment()
    app = Flask("wallet_api", static_folder=None)
    app.request_class = ApiRequest
    # Flask would respond to OPTIONS, and to doubled slashes, with its own pages.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    made = services.Services(settings, demo_key_file)
    if settings.proxy_hops:
        hops = settings.proxy_hops
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=0, x_prefix=hops)  # type: ignore[method-assign]
    counters.init_app(app, made.registry)
    headers.init_app(app)
    operator.init_app(app, settings)
    envelope.init_app(app)
    cors.init_app(app, made.cors_origins)
    cached.init_app(app, settings.answer_ttl_seconds, settings.leaderboard_ttl_seconds, made.bulkhead)
    dollars.init_app(app, made.database, settings.native_price_max_age_seconds)
    large.init_app(app)
    cursor_seals.init_app(app, made.database, made.bulkhead)
    made.gate.init_app(app, envelope.error_response)
    services.init_app(app, made)
    metrics.init_app(app, notify_metrics, sync_metrics)
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    openapi.check(app)
    _check_costs(app, settings)
    return app


def _check_costs(app: Flask, settings: Settings) -> None:
    names = [described.name for _, described in openapi.operations(app)]
    unknown = [name for name, _ in settings.credit_costs or () if name not in names]
    if unknown:
        raise SettingsError(
            f"CREDIT_COSTS names no operation: {', '.join(unknown)}; they are {', '.join(sorted(names))}"
        )
