"""GET /v1/wallets/lookup: where an address is tracked."""

from typing import Any

from flask import Blueprint

from wallet_api.queries.lookup import look_up_address
from wallet_api.responses.examples import PROFILE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.lookup import LookupArguments, LookupSchema
from wallet_api.services import services

blueprint = Blueprint("lookup", __name__, url_prefix="/v1")

_UNTRACKED = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
_EXAMPLE = {"found": True, **PROFILE, "matches": [{"blockchain": "solana", "type": "kol"}]}

_operation = Operation(
    tag="Wallets",
    summary="Search an address on all chains",
    arguments=LookupArguments(),
    data=LookupSchema(),
    examples={"found": _EXAMPLE, "not_found": {"found": False, "wallet_address": _UNTRACKED}},
    description="An address that is not tracked is no error: `found` is false then.",
)


@blueprint.get("/wallets/lookup")
@_operation.cached
def lookup(**arguments: Any) -> dict[str, Any]:
    """Return the profile of the wallet with this address, and the chains on which it is tracked."""
    with services().database.read() as connection:
        return look_up_address(connection, **arguments)
