"""GET /v1/wallets/tokens: the record of a wallet in each token, in pages."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.wallet_tokens import WalletTokensArguments, WalletTokensSchema
from wallet_api.api.services import requested_wallet, services
from wallet_api.queries.wallet_tokens import wallet_tokens

blueprint = Blueprint("wallet_tokens", __name__, url_prefix="/v1")

_operation = Operation(
    name="list_wallet_tokens",
    use="For cost and profit by token; for the trades behind one use explain_position.",
    tag="Wallets",
    summary="Tokens of a wallet",
    arguments=WalletTokensArguments(),
    data=WalletTokensSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="tokens",
)


@blueprint.get("/wallets/tokens")
@_operation.cached
def tokens(**arguments: Any) -> dict[str, Any]:
    """Return a page of the tokens that a wallet traded, by a figure."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_tokens(connection, wallet, now, arguments, services().price_rule)
