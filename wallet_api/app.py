"""create_app: only wiring. Imports all, is imported by none."""

from flask import Flask

from wallet_api.blueprints import envelope, history, services, wallets
from wallet_api.database import Database
from wallet_api.settings import Settings


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Raises SettingsError when the environment is at fault."""
    settings = settings or Settings.from_environment()
    app = Flask("wallet_api", static_folder=None)
    database = Database(settings)
    services.init_app(app, services.Services(settings=settings, database=database))
    envelope.init_app(app)
    for blueprint in (wallets.blueprint, history.blueprint):
        app.register_blueprint(blueprint)
    return app
