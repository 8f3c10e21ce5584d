"""The prices of tokens."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.base.times import shown_time
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import moment_of

_PRICES = load_sql(__package__, "prices")


def token_prices(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return what is known of each token of a chain, in their order, with its price.

    With `as_of`, the price that the ledger as it is now has for that moment. Raises InvalidParameter.
    """
    blockchain, as_of = given["blockchain"], given.get("as_of")
    moment = moment_of(as_of, now)
    times = rule.parameters(moment, is_past=as_of is not None)
    head, tokens = read_prices(connection, blockchain, given["mint"], times)
    return {
        "blockchain": blockchain,
        "currency": CHAINS[blockchain].currency,
        **head,
        **({} if as_of is None else {"as_of": shown_time(moment)}),
        "tokens": tokens,
    }


def read_prices(
    connection: Connection, blockchain: str, mints: Sequence[str], times: Mapping[str, Any]
) -> tuple[Row, Columns]:
    """Return the price of the native coin, and the tokens as columns, at the moment of `times`."""
    chain = CHAINS[blockchain]
    parameters = {
        "blockchain": blockchain,
        "mints": list(mints),
        "currency": chain.currency,
        "coin_name": chain.coin.name,
        "coin_decimals": chain.native_decimals,
        **times,
        "fresh_since": times["price_oldest_at"],
        # The last price is found however old it is.
        "price_oldest_at": "-infinity",
    }
    head, [tokens] = connection.fetch_lists(_PRICES, parameters)
    return native_price_of(head), tokens
