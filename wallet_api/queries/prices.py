"""The prices of tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
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
    currency = CHAINS[blockchain].currency
    parameters = {
        "blockchain": blockchain,
        "mints": list(mints),
        "currency": currency,
        **rule.parameters(now),
    }
    row = read_priced(connection, _PRICES, parameters)
    assert row is not None
    return {"blockchain": blockchain, "currency": currency, "tokens": orjson.Fragment(row["tokens"])}
