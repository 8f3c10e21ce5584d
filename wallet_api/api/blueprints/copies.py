"""GET /v1/wallets/copy: what a copier of a wallet would have got."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.copies import CopyArguments, CopySchema
from wallet_api.api.services import requested_wallet, services
from wallet_api.queries.copies import copy_wallet

blueprint = Blueprint("copies", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_copy",
    use="For what following it would have brought; for its own record use get_tracker.",
    tag="Wallets",
    summary="What a copier of a wallet would have got",
    arguments=CopyArguments(),
    data=CopySchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="steps",
)


@blueprint.get("/wallets/copy")
@_operation.cached
def copy(**arguments: Any) -> dict[str, Any]:
    """Return what a copier of a wallet would have got in a window, step by step."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return copy_wallet(connection, wallet, now, arguments, services().price_rule)
