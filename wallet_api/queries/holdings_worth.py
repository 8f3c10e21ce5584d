"""What the balances of a wallet are worth."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

# In one response.
MOST_BALANCES = 10_000

_WORTH = load_sql(__package__, "holdings_worth")


class Balance(msgspec.Struct):
    """What a wallet holds of a token, of a row of its holdings."""

    token_address: str
    amount_formatted: str


def worth_of(
    connection: Connection,
    now: datetime,
    blockchain: str,
    balances: Sequence[Balance],
    rule: PriceRule = DEFAULT_RULE,
) -> Mapping[int, Row]:
    """Return by their places what balances of a chain are worth, of those that have a price."""
    parameters = {
        "blockchain": blockchain,
        "currency": CHAINS[blockchain].currency,
        "mints": [balance.token_address for balance in balances],
        "amounts": [balance.amount_formatted for balance in balances],
        **rule.parameters(now),
    }
    return {row.pop("place"): row for row in connection.execute(_WORTH, parameters)}
