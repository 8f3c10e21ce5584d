"""GET /v1/wallets/tracker: the record of one wallet in a period."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.blocking import about_to_block
from wallet_api.errors import WalletNotFound
from wallet_api.queries.tracker import track_wallet
from wallet_api.responses.cached import Lifetime
from wallet_api.responses.examples import ADDRESS, MINT, PROFILE, SIGNATURE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.tracker import TrackerArguments, TrackerSchema
from wallet_api.services import services

blueprint = Blueprint("tracker", __name__, url_prefix="/v1")

_TOKEN = {
    "mint": MINT,
    "token_name": "Doge Club",
    "buy_value": 12.5,
    "buy_value_usd": 1875,
    "sell_value": 31.25,
    "sell_value_usd": 4687.5,
    "buy_tokens": 500000,
    "sell_tokens": 400000.5,
    "buy_txn": 2,
    "sell_txn": 1,
    "realized_pnl": 21.249987499,
    "realized_pnl_usd": 3187.4981,
    "realized_pnl_percentage": 212.4996,
    "first_seen": "2026-01-30T08:11:02Z",
    "last_seen": "2026-01-30T12:40:57Z",
    "remaining_tokens": 99999.5,
    "bag_pct": 19.9999,
    "still_holding": True,
    "currency": "SOL",
    "unrealized_pnl": 1.250020001,
}
_EXAMPLE = {
    "wallet": ADDRESS,
    "profile": PROFILE | {"active_hours": "13:00-21:00 UTC"},
    "period_stats": {
        "period": "1d",
        "buy_txn": 2,
        "sell_txn": 1,
        "total_txn": 3,
        "total_buy": 12.5,
        "total_buy_usd": 1875,
        "total_sell": 31.25,
        "total_sell_usd": 4687.5,
        "volume": 43.75,
        "volume_usd": 6562.5,
        "realized_pnl": 21.249987499,
        "realized_pnl_usd": 3187.4981,
        "realized_pnl_percentage": 212.4996,
        "win_count": 1,
        "loss_count": 0,
        "win_rate": 100,
        "best_trade_pnl": 21.249987499,
        "worst_trade_pnl": 21.249987499,
        "largest_buy": 7.5,
        "avg_hold_time_minutes": 229.92,
    },
    "period_win_rate_distribution": {
        "win_rate_percentage": 100,
        "above_500": 0,
        "above_100_to_500": 1,
        "above_zero_to_100": 0,
        "below_zero": 0,
        "closed_count": 1,
        "win_count": 1,
    },
    "period_active_tokens": {
        "active_tokens_count": 1,
        "still_holding_count": 1,
        "avg_position_size": 12.5,
        "tokens": [_TOKEN],
    },
    "period_history_tokens": [_TOKEN],
    "period_realized_pnl_chart": [
        {"timestamp": "2026-01-29T12:51:16Z", "realized_pnl": 0, "realized_pnl_usd": 0},
        {"timestamp": "2026-01-30T12:51:16Z", "realized_pnl": 21.249987499, "realized_pnl_usd": 3187.4981},
    ],
    "period_trades": [
        {
            "tx_signature": SIGNATURE,
            "mint": MINT,
            "token_name": "Doge Club",
            "transaction_type": "sell",
            "created_at": "2026-01-30T12:40:57Z",
            "value": 31.25,
            "value_usd": 4687.5,
            "token_amount": 400000.5,
            "currency": "SOL",
            "sell_value": 31.25,
            "sell_value_usd": 4687.5,
        }
    ],
}

_operation = Operation(
    tag="Wallets",
    summary="Record of a wallet in a period",
    arguments=TrackerArguments(),
    data=TrackerSchema(),
    examples={"a_day": _EXAMPLE},
    errors=[WalletNotFound("solana", ADDRESS)],
    description="Figures, tokens and trades are of the same moment, which may be 30 seconds ago: see `meta`.",
    lifetime=Lifetime.LONG,
)


@blueprint.get("/wallets/tracker")
@blueprint.get("/wallet/tracking", endpoint="tracker_alias")
@_operation.cached
def tracker(**arguments: Any) -> dict[str, Any]:
    """Return a wallet's figures over a period, how its profit grew, and the period's tokens and trades."""
    # A month of trades takes the database longer than it takes to let other requests run meanwhile.
    about_to_block()
    with services().database.read() as connection:
        return track_wallet(connection, datetime.now(UTC), **arguments, rule=services().price_rule)
