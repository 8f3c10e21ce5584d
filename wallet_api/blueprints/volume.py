"""GET /v1/transactions/volume: what a group of wallets traded within a window."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from wallet_api.blueprints.answers import answer_once
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.services import services
from wallet_api.queries.volume import group_volume
from wallet_api.schemas.volume import VolumeArguments, VolumeSchema

blueprint = Blueprint("volume", __name__, url_prefix="/v1")

_arguments = VolumeArguments()
_schema = VolumeSchema()


@blueprint.get("/transactions/volume")
def volume() -> Response:
    """Total what a group traded in the last seconds, minutes or hours, at most 24 hours."""
    arguments = load_arguments(_arguments)

    def total() -> Any:
        with services().database.read() as connection:
            return _schema.dump(group_volume(connection, datetime.now(UTC), **arguments))

    return answer_once(arguments, total)
