"""GET /v1/wallets: the tracked wallets of one chain and type."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.paging import PagedArguments
from wallet_api.api.schemas.wallets import WalletsSchema
from wallet_api.api.services import services
from wallet_api.queries.wallets import list_wallets

blueprint = Blueprint("wallets", __name__, url_prefix="/v1")


_operation = Operation(
    name="list_wallets",
    use="For who is tracked in a group; to find one by its name use search_names.",
    tag="Wallets",
    summary="List tracked wallets",
    arguments=PagedArguments(),
    data=WalletsSchema(),
    rows="wallets",
    lifetime=Lifetime.LONG,
)


@blueprint.get("/wallets")
@_operation.cached
def wallets(**arguments: Any) -> dict[str, Any]:
    """List the tracked wallets of a group, by address."""
    with services().database.read() as connection:
        return list_wallets(connection, **arguments)
