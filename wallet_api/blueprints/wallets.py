"""GET /v1/wallets: the tracked wallets of one chain and type."""

from typing import Any

from flask import Blueprint, Response

from wallet_api.blueprints.answers import answer_once
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.services import services
from wallet_api.queries.wallets import list_wallets
from wallet_api.schemas.wallets import WalletsArguments, WalletsSchema

blueprint = Blueprint("wallets", __name__, url_prefix="/v1")

_arguments = WalletsArguments()
_schema = WalletsSchema()


@blueprint.get("/wallets")
def wallets() -> Response:
    """List the tracked wallets of a group, by address."""
    arguments = load_arguments(_arguments)

    def page() -> Any:
        with services().database.read() as connection:
            return _schema.dump(list_wallets(connection, **arguments))

    return answer_once(arguments, page)
