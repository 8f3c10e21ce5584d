"""GET /v1/transactions/volume: what a group of wallets traded within a window."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.volume import VolumeSchema, WindowArguments
from wallet_api.api.services import services
from wallet_api.queries.volume import group_volume

blueprint = Blueprint("volume", __name__, url_prefix="/v1")


_operation = Operation(
    name="get_volume",
    use="For at most a day; for longer use get_analytics with `volume_trend`.",
    tag="Groups",
    summary="Trading volume of a group",
    arguments=WindowArguments(),
    data=VolumeSchema(),
)


@blueprint.get("/transactions/volume")
@_operation.cached
def volume(**arguments: Any) -> dict[str, Any]:
    """Return what a group traded in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return group_volume(connection, datetime.now(UTC), arguments)
