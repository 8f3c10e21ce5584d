"""GET /v1/transactions/latest and /timerange: the trades of a group, newest first."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.queries.feed import latest_trades, trades_within
from wallet_api.responses.cached import Lifetime
from wallet_api.responses.examples import MINT, PROFILE, SIGNATURE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.feed import LatestArguments, LatestSchema, TimerangeArguments, TimerangeSchema
from wallet_api.services import services

blueprint = Blueprint("feed", __name__, url_prefix="/v1")

_TRANSACTION = {
    "tx_signature": SIGNATURE,
    "event_index": 0,
    "transaction_type": "buy",
    "value": 2.5,
    "value_usd": 375,
    "currency": "SOL",
    "token_amount": 1250000,
    "price_per_token": 0.000002,
    "price_per_token_usd": 0.0003,
    "created_at": "2026-01-30T12:40:57Z",
    "profile": PROFILE,
    "holdings_after": {
        "token_amount": 1500000,
        "token_amount_peak": 2000000,
        "bag_pct": 75,
        "still_holding": True,
        "supply_pct": None,
        "supply_pct_peak": None,
    },
    "mint": MINT,
    "token_name": "Bonk",
    "token_supply": None,
    "token_decimals": None,
}
_TOKEN = {
    "blockchain": "solana",
    "currency": "SOL",
    "mint": MINT,
    "token_name": "Bonk",
    "token_supply": None,
    "token_decimals": None,
    "price": 0.000002,
    "price_usd": 0.0003,
    "price_at": "2026-01-30T12:40:57Z",
    "market_cap": None,
    "market_cap_usd": None,
    "market_cap_currency": None,
    "sol_price_usd": 150,
    "pool": None,
    "on_curve": None,
    "bonding_curve_progress": None,
}
_HEAD = {"blockchain": "solana", "type": "kol", "currency": "SOL", "count": 1, "transactions": [_TRANSACTION]}
_OF_A_TOKEN = {"mint": MINT, "token": _TOKEN}
_LATEST = _HEAD | {
    "mode": "latest",
    "pagination": {"limit": 1, "total": 5120, "has_more": True, "next_cursor": "WyJsYXRlc3QiXQ"},
}
_TIMERANGE = _HEAD | {
    "mode": "timerange",
    "total": 412,
    "time_window_seconds": 3600,
    "warnings": ["Only the newest 1 of 412 trades are shown."],
}

_latest = Operation(
    tag="Groups",
    summary="Latest trades of a group",
    arguments=LatestArguments(),
    data=LatestSchema(),
    examples={"page": _LATEST, "of_a_token": _LATEST | _OF_A_TOKEN},
    description="`holdings_after` is by the wallet's trades alone: what came in otherwise is not in it.",
    beside="pagination",
    # A feed that repeats itself is a fault.
    lifetime=Lifetime.SHORT,
)
_timerange = Operation(
    tag="Groups",
    summary="Trades of a group in a window",
    arguments=TimerangeArguments(),
    data=TimerangeSchema(),
    examples={"an_hour": _TIMERANGE, "of_a_token": _TIMERANGE | _OF_A_TOKEN},
    description="Without `seconds`, `minutes` and `hours` the window is an hour.",
    lifetime=Lifetime.SHORT,
)


@blueprint.get("/transactions/latest")
@_latest.cached
def latest(**arguments: Any) -> dict[str, Any]:
    """Return a page of all trades of a group, newest first."""
    with services().database.read() as connection:
        return latest_trades(connection, datetime.now(UTC), **arguments, rule=services().price_rule)


@blueprint.get("/transactions/timerange")
@_timerange.cached
def timerange(**arguments: Any) -> dict[str, Any]:
    """Return the trades of a group in the last seconds, minutes or hours, at most an hour, newest first."""
    with services().database.read() as connection:
        return trades_within(connection, datetime.now(UTC), **arguments, rule=services().price_rule)
