"""The prices of tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Columns, Connection, load_sql
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule, read_priced

_PRICES = load_sql(__package__, "prices")


def token_prices(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mints: Sequence[str],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return what is known of each token of a chain, in their order, with its price."""
    tokens = read_prices(connection, now, blockchain, mints, rule)
    currency = CHAINS[blockchain].currency
    return {"blockchain": blockchain, "currency": currency, "tokens": tokens}


def read_prices(
    connection: Connection, now: datetime, blockchain: str, mints: Sequence[str], rule: PriceRule
) -> Columns:
    """Return the same as columns."""
    parameters = {
        "blockchain": blockchain,
        "mints": list(mints),
        "currency": CHAINS[blockchain].currency,
        **rule.parameters(now),
    }
    found = read_priced(connection, _PRICES, parameters)
    assert found is not None
    _, [tokens] = found
    return tokens
