"""What is known of a token, beside the trades in it."""

from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql

_TOKEN_BLOCK = load_sql(__package__, "token_block")

# No source of these exists yet.
_UNKNOWN = ("token_supply", "token_decimals", "price", "price_usd", "price_at")
_UNKNOWN_CAPS = ("market_cap", "market_cap_usd", "market_cap_currency")
_UNKNOWN_CURVE = ("pool", "on_curve", "bonding_curve_progress")

# The id of no token.
UNKNOWN_TOKEN_ID = -1


def find_token(
    connection: Connection, now: datetime, blockchain: str, mint: str
) -> tuple[int, dict[str, Any] | None]:
    """Return the id and the block of a token, or UNKNOWN_TOKEN_ID and None if no tracked wallet traded it.

    `mint` is in its stored form.
    """
    parameters = {"blockchain": blockchain, "mint": mint, "now": now}
    found = connection.execute(_TOKEN_BLOCK, parameters).fetchone()
    if found is None:
        return UNKNOWN_TOKEN_ID, None
    block = {
        "blockchain": blockchain,
        "currency": CHAINS[blockchain].currency,
        "mint": mint,
        "token_name": found["token_name"],
        **dict.fromkeys(_UNKNOWN + _UNKNOWN_CAPS),
        "sol_price_usd": found["sol_price_usd"],
        **dict.fromkeys(_UNKNOWN_CURVE),
    }
    return found["token_id"], block
