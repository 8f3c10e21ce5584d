"""GET /v1/wallet/pnl_calendar: the days and months of one wallet."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.errors import WalletNotFound
from wallet_api.queries.calendar import wallet_calendar
from wallet_api.responses.examples import ADDRESS, PROFILE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.calendar import CalendarArguments, CalendarSchema
from wallet_api.services import services

blueprint = Blueprint("calendar", __name__, url_prefix="/v1")

_MONTH = {
    "year": 2026,
    "month": 1,
    "realized_pnl": 0.6,
    "realized_pnl_usd": 90,
    "buy_txn": 3,
    "sell_txn": 1,
    "txn_total": 4,
    "tokens_traded": 2,
    "volume": 8.75,
    "total_buy": 6.75,
    "total_buy_usd": 1012.5,
    "total_sell": 2,
    "total_sell_usd": 300,
    "positive_streak": 1,
    "negative_streak": 0,
}
_DATES = [
    {
        "date": "2026-01-29",
        "realized_pnl": 0,
        "realized_pnl_usd": 0,
        "buy_txn": 1,
        "sell_txn": 0,
        "txn_total": 1,
        "tokens_traded": 1,
        "volume": 3.5,
        "total_buy": 3.5,
        "total_buy_usd": 525,
        "total_sell": 0,
        "total_sell_usd": 0,
    },
    {
        "date": "2026-01-30",
        "realized_pnl": 0.6,
        "realized_pnl_usd": 90,
        "buy_txn": 2,
        "sell_txn": 1,
        "txn_total": 3,
        "tokens_traded": 2,
        "volume": 5.25,
        "total_buy": 3.25,
        "total_buy_usd": 487.5,
        "total_sell": 2,
        "total_sell_usd": 300,
    },
]
_EXAMPLE = {
    "wallet": ADDRESS,
    "profile": PROFILE,
    "months": [{"month": _MONTH, "dates": _DATES}],
    "month": _MONTH,
    "dates": _DATES,
}
_QUIET = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
_EMPTY = {
    "wallet": _QUIET,
    "profile": PROFILE
    | {
        "wallet_address": _QUIET,
        "name": "",
        "image_url": "",
        "twitter": "",
        "copytrade_link": f"https://copytrade.example/solana/{_QUIET}",
        "type": "whale",
    },
    "months": [],
    "month": {},
    "dates": [],
}

_operation = Operation(
    tag="Wallets",
    summary="Days and months of a wallet",
    arguments=CalendarArguments(),
    data=CalendarSchema(),
    examples={"a_month": _EXAMPLE, "never_traded": _EMPTY},
    errors=[WalletNotFound("solana", ADDRESS)],
    description="A profit is a realized one, by weighted-average cost; it is not sells less buys.",
)


@blueprint.get("/wallet/pnl_calendar")
@_operation.cached
def pnl_calendar(**arguments: Any) -> dict[str, Any]:
    """Return what a wallet traded and realized on each day of UTC, with the sums of each month."""
    with services().database.read() as connection:
        return wallet_calendar(connection, datetime.now(UTC), **arguments)
