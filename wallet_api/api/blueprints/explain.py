"""GET /v1/wallets/explain: how the figures of a wallet in a token come about."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.explain import ExplainArguments, ExplainSchema
from wallet_api.api.services import requested_wallet, services
from wallet_api.base.errors import TokenNotFound
from wallet_api.queries.explain import explain_position

blueprint = Blueprint("explain", __name__, url_prefix="/v1")

_operation = Operation(
    name="explain_position",
    use="For why a figure of one token is what it is; for all tokens use list_wallet_tokens.",
    tag="Wallets",
    summary="A wallet's figures in a token, trade by trade",
    arguments=ExplainArguments(),
    data=ExplainSchema(),
    errors=[NOT_TRACKED_AS_KOL, TokenNotFound("The wallet never traded this token.")],
    rows="steps",
)


@blueprint.get("/wallets/explain")
@_operation.cached
def explain(**arguments: Any) -> dict[str, Any]:
    """Return the trades of a wallet in a token, oldest first, each with what it held and cost after it."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return explain_position(connection, wallet, now, arguments, services().price_rule)
