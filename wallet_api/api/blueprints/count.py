"""GET /v1/transactions/count: how many trades a group of wallets made within a window."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.count import CountSchema
from wallet_api.api.schemas.volume import WindowArguments
from wallet_api.api.services import services
from wallet_api.queries.count import count_trades

blueprint = Blueprint("count", __name__, url_prefix="/v1")


_operation = Operation(
    name="count_trades",
    use="For how many; for their value use get_volume.",
    tag="Groups",
    summary="Number of trades of a group",
    arguments=WindowArguments(),
    data=CountSchema(),
)


@blueprint.get("/transactions/count")
@_operation.cached
def count(**arguments: Any) -> dict[str, Any]:
    """Count the trades of a group in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return count_trades(connection, datetime.now(UTC), arguments)
