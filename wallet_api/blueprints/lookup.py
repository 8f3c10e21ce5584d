"""GET /v1/wallets/lookup: where an address is tracked."""

from typing import Any

from flask import Blueprint

from wallet_api.queries.lookup import look_up_address
from wallet_api.responses.examples import examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.lookup import LookupArguments, LookupSchema
from wallet_api.services import services

blueprint = Blueprint("lookup", __name__, url_prefix="/v1")


_operation = Operation(
    tag="Wallets",
    summary="Search an address on all chains",
    arguments=LookupArguments(),
    data=LookupSchema(),
    examples=examples_of("wallets/lookup"),
    description="An address that is not tracked is no error: `found` is false then.",
)


@blueprint.get("/wallets/lookup")
@_operation.cached
def lookup(**arguments: Any) -> dict[str, Any]:
    """Return the profile of the wallet with this address, and the chains on which it is tracked."""
    with services().database.read() as connection:
        return look_up_address(connection, **arguments)
