"""GET /v1/wallets/lookup: where addresses are tracked."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint

from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.examples import ADDRESS
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.lookup import LookupArguments, LookupSchema
from wallet_api.api.services import services
from wallet_api.base.errors import WalletNotFound
from wallet_api.queries.lookup import look_up_addresses

blueprint = Blueprint("lookup", __name__, url_prefix="/v1")


_operation = Operation(
    name="look_up_wallets",
    use="For addresses, with their links; for names use search_names.",
    tag="Wallets",
    summary="Search addresses on all chains",
    arguments=LookupArguments(),
    data=LookupSchema(),
    rows="wallets",
    errors=[WalletNotFound("solana", ADDRESS, "whale")],
    description="An address that is not tracked has `found: false`. One of another `type` is a 404, or"
    " `found: false` among several.",
)


@blueprint.get("/wallets/lookup")
@_operation.cached
def lookup(addresses: Sequence[str], scope: KeyScope, type: str | None = None) -> dict[str, Any]:
    """Return the profiles of up to 100 addresses, and the chains on which they are tracked."""
    with services().database.read() as connection:
        return look_up_addresses(connection, addresses, type, scope.has)
