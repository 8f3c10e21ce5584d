# wallet_api/api/blueprints/tracked.py
"""GET /v1/wallets/tracked: the number of tracked wallets of a group."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.tracked import TrackedArguments, TrackedSchema
from wallet_api.api.services import services
from wallet_api.queries.tracked import count_tracked

blueprint = Blueprint("tracked", __name__, url_prefix="/v1")

_operation = Operation(
    name="count_wallets",
    use="For how many; for which use list_wallets.",
    tag="Wallets",
    summary="Number of tracked wallets",
    arguments=TrackedArguments(),
    data=TrackedSchema(),
    examples={"group": {"blockchain": "solana", "type": "kol", "count": 80}},
)


@blueprint.get("/wallets/tracked")
@_operation.cached
def tracked(**arguments: Any) -> dict[str, Any]:
    """Return how many wallets of a group are tracked."""
    with services().database.read() as connection:
        return count_tracked(connection, **arguments)
