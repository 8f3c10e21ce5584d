"""GET /v1/wallets/connections: the wallets that trade the same tokens as one wallet."""

from typing import Any

from flask import Blueprint

from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.examples import NOT_TRACKED
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.connections import ConnectionsArguments, ConnectionsSchema
from wallet_api.api.services import requested_wallet
from wallet_api.queries.connections import wallet_connections

blueprint = Blueprint("connections", __name__, url_prefix="/v1")


_operation = Operation(
    name="list_connections",
    use="For who trades alike; for who traded one token use get_token_stats.",
    tag="Wallets",
    summary="Wallets that trade the same tokens",
    arguments=ConnectionsArguments(),
    data=ConnectionsSchema(),
    rows="connections",
    errors=[NOT_TRACKED],
    lifetime=Lifetime.LONG,
)


@blueprint.get("/wallets/connections")
@_operation.cached
def connections(scope: KeyScope, **arguments: Any) -> dict[str, Any]:
    """Return the other tracked wallets of the chain that traded the same tokens in the last 30 days."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_connections(connection, wallet, now, arguments, scope.types)
