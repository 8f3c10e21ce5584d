"""The block that describes a token: its face, its price, and what no source provides yet."""

from datetime import datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import TokenNotFound
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.token_price import PriceRule

_TOKEN = load_sql(__package__, "token")

# No source of these exists yet.
_UNKNOWN_CURVE = ("pool", "on_curve", "bonding_curve_progress")
FACE = ("mint", "symbol", "token_name", "token_supply", "token_decimals")
_PRICES = (
    *("price", "price_usd", "price_at", "price_source", "liquidity_usd"),
    *("market_cap", "market_cap_usd"),
)

# The id of no token.
UNKNOWN_TOKEN_ID = -1


def read_token(
    connection: Connection, now: datetime, rule: PriceRule, blockchain: str, mint: str
) -> tuple[int, dict[str, Any] | None]:
    """Return the id and the block of a token, or UNKNOWN_TOKEN_ID and None if no tracked wallet traded it."""
    currency = CHAINS[blockchain].currency
    parameters = {"blockchain": blockchain, "mints": [mint], "currency": currency, **rule.parameters(now)}
    try:
        row, _ = connection.fetch_lists(_TOKEN, parameters, TokenNotFound())
    except TokenNotFound:
        return UNKNOWN_TOKEN_ID, None
    return row["token_id"], price_block(row, blockchain)


def price_block(row: Row, blockchain: str) -> dict[str, Any]:
    """Return the block of a token of which `row` has the columns of token_block.sql."""
    return {
        "blockchain": blockchain,
        "currency": CHAINS[blockchain].currency,
        **{name: row[name] for name in (*FACE, *_PRICES)},
        "market_cap_currency": None if row["market_cap"] is None else CHAINS[blockchain].currency,
        **native_price_of(row),
        "sol_price_usd": row["sol_price_usd"],
        **dict.fromkeys(_UNKNOWN_CURVE),
    }
