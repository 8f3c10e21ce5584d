"""GET /v1/transactions/latest and /timerange: the trades of a group, newest first."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.queries.feed import latest_trades, trades_within
from wallet_api.responses.cached import Lifetime
from wallet_api.responses.examples import MINT, TOKEN, TRANSACTION
from wallet_api.responses.operation import Operation
from wallet_api.schemas.feed import LatestArguments, LatestSchema, TimerangeArguments, TimerangeSchema
from wallet_api.services import services

blueprint = Blueprint("feed", __name__, url_prefix="/v1")

_HEAD = {"blockchain": "solana", "type": "kol", "currency": "SOL", "count": 1, "transactions": [TRANSACTION]}
_OF_A_TOKEN = {"mint": MINT, "token": TOKEN}
_PAGINATION: dict[str, Any] = {
    "limit": 1,
    "total": 5,
    "has_more": True,
    "next_cursor": "WyJsYXRlc3QiXQ",
}
_LATEST = _HEAD | {
    "mode": "latest",
    "pagination": _PAGINATION,
}
_LATEST_OF_A_TOKEN = _LATEST | _OF_A_TOKEN | {"pagination": _PAGINATION | {"total": 4}}
_TIMERANGE = _HEAD | {
    "mode": "timerange",
    "total": 2,
    "time_window_seconds": 3600,
    "warnings": ["Only the newest 1 of 2 trades are shown."],
}
_TIMERANGE_OF_A_TOKEN = _HEAD | _OF_A_TOKEN | {"mode": "timerange", "total": 1, "time_window_seconds": 3600}

_latest = Operation(
    tag="Groups",
    summary="Latest trades of a group",
    arguments=LatestArguments(),
    data=LatestSchema(),
    examples={"page": _LATEST, "of_a_token": _LATEST_OF_A_TOKEN},
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
    examples={"an_hour": _TIMERANGE, "of_a_token": _TIMERANGE_OF_A_TOKEN},
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
