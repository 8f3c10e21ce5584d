"""GET /v1/wallets/history: the lifetime record of one wallet."""

from typing import Any

from flask import Blueprint, Response

from wallet_api.blueprints.answers import answer_once
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.services import services
from wallet_api.queries.history import wallet_history
from wallet_api.schemas.history import HistoryArguments, HistorySchema

blueprint = Blueprint("history", __name__, url_prefix="/v1")

_arguments = HistoryArguments()
_schema = HistorySchema()


@blueprint.get("/wallets/history")
def history() -> Response:
    """Tell one wallet's lifetime figures, its record in every token, and a page of its trades."""
    arguments = load_arguments(_arguments)

    def record() -> Any:
        with services().database.read() as connection:
            return _schema.dump(wallet_history(connection, **arguments))

    return answer_once(arguments, record)
