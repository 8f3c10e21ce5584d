"""GET /v1/tokens/transactions, /stats, /holders and /prices: who trades and holds a token, and its price."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.tokens import (
    PricesArguments,
    PricesSchema,
    TokenHoldersArguments,
    TokenHoldersSchema,
    TokenStatsArguments,
    TokenStatsSchema,
    TokenTransactionsArguments,
    TokenTransactionsSchema,
)
from wallet_api.api.services import services
from wallet_api.base.errors import CursorUnknown, TokenNotFound
from wallet_api.queries.changes import read_changes
from wallet_api.queries.prices import token_prices
from wallet_api.queries.tokens import token_holders, token_stats, token_transactions

blueprint = Blueprint("tokens", __name__, url_prefix="/v1")

_ERRORS = [TokenNotFound()]

_transactions = Operation(
    name="list_token_trades",
    use="For single trades; for sums by wallet use get_token_stats.",
    tag="Tokens",
    summary="Trades in a token",
    arguments=TokenTransactionsArguments(),
    data=TokenTransactionsSchema(),
    errors=[*_ERRORS, CursorUnknown()],
    top_level="pagination",
    current_with="after",
    rows="transactions",
    # A feed must not return the same page for long.
    lifetime=Lifetime.SHORT,
)
_stats = Operation(
    name="get_token_stats",
    use="For profit and who was first; for single trades use list_token_trades.",
    tag="Tokens",
    summary="Figures of a token and its traders",
    arguments=TokenStatsArguments(),
    data=TokenStatsSchema(),
    errors=_ERRORS,
    rows="traders",
)
_holders = Operation(
    name="list_holders",
    use="For who holds how much; for profit and who was first use get_token_stats.",
    tag="Tokens",
    summary="Holders of a token",
    arguments=TokenHoldersArguments(),
    data=TokenHoldersSchema(),
    errors=_ERRORS,
    rows="holders",
)
_prices = Operation(
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


@blueprint.get("/tokens/transactions")
@_transactions.cached
def transactions(**arguments: Any) -> dict[str, Any]:
    """Return a page of the trades in a token, newest first, or of their changes in the order of arrival."""
    if "after" in arguments:
        services().placing.start()
        return read_changes(services().database, datetime.now(UTC), "tokens/transactions", arguments)
    with services().database.read() as connection:
        return token_transactions(connection, datetime.now(UTC), arguments, services().price_rule)


@blueprint.get("/tokens/stats")
@_stats.cached
def stats(**arguments: Any) -> dict[str, Any]:
    """Return what tracked wallets did in a token and hold of it: their totals, and a page of wallets."""
    with services().database.read() as connection:
        return token_stats(connection, datetime.now(UTC), arguments, services().price_rule)


@blueprint.get("/tokens/holders")
@_holders.cached
def ranked_holders(**arguments: Any) -> dict[str, Any]:
    """Return a page of the tracked wallets that ever held a token, by how much of it they hold."""
    with services().database.read() as connection:
        return token_holders(connection, datetime.now(UTC), arguments, services().price_rule)


@blueprint.get("/tokens/prices")
@_prices.cached
def prices(**arguments: Any) -> dict[str, Any]:
    """Return the prices, market caps and names of up to 100 tokens of a chain, now or at a moment."""
    with services().database.read() as connection:
        return token_prices(connection, datetime.now(UTC), arguments, services().price_rule)
