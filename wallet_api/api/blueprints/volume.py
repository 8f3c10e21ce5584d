"""GET /v1/transactions/volume and /count: what a group traded within a window, and by how many trades."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.volume import CountSchema, VolumeSchema, WindowArguments
from wallet_api.api.services import services
from wallet_api.queries.count import count_trades
from wallet_api.queries.volume import group_volume

blueprint = Blueprint("volume", __name__, url_prefix="/v1")

_volume = Operation(
    name="get_volume",
    use="For at most a day; for longer use get_analytics with `volume_trend`.",
    tag="Groups",
    summary="Trading volume of a group",
    arguments=WindowArguments(),
    data=VolumeSchema(),
)
_count = Operation(
    name="count_trades",
    use="For how many; for their value use get_volume.",
    tag="Groups",
    summary="Number of trades of a group",
    arguments=WindowArguments(),
    data=CountSchema(),
)


@blueprint.get("/transactions/volume")
@_volume.cached
def volume(**arguments: Any) -> dict[str, Any]:
    """Return what a group traded in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return group_volume(connection, datetime.now(UTC), arguments)


@blueprint.get("/transactions/count")
@_count.cached
def count(**arguments: Any) -> dict[str, Any]:
    """Count the trades of a group in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return count_trades(connection, datetime.now(UTC), arguments)
