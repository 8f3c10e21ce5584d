"""GET /v1/tokens/prices: the prices of tokens."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.prices import PricesArguments, PricesSchema
from wallet_api.api.services import services
from wallet_api.queries.prices import token_prices

blueprint = Blueprint("prices", __name__, url_prefix="/v1")


_operation = Operation(
    name="get_prices",
    use="For prices alone; for who trades a token use get_token_stats.",
    tag="Tokens",
    summary="Prices of tokens",
    arguments=PricesArguments(),
    data=PricesSchema(),
    rows="tokens",
    description="A token that no tracked wallet traded has `found: false`. With `as_of` only trades and"
    " prices until then count, as the ledger has them now; names and supplies are those of today.",
)


@blueprint.get("/tokens/prices")
@_operation.cached
def prices(**arguments: Any) -> dict[str, Any]:
    """Return the prices, market caps and names of up to 100 tokens of a chain, now or at a moment."""
    with services().database.read() as connection:
        return token_prices(connection, datetime.now(UTC), arguments, services().price_rule)
