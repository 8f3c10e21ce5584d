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
    "buy_value": 6,
    "buy_value_usd": 900,
    "sell_value": 2,
    "sell_value_usd": 300,
    "buy_tokens": 3750000,
    "sell_tokens": 1000000,
    "buy_txn": 2,
    "sell_txn": 1,
    "realized_pnl": 0.6,
    "realized_pnl_usd": 90,
    "realized_pnl_percentage": 42.8571,
    "first_seen": "2026-01-29T13:11:02Z",
    "last_seen": "2026-01-30T12:40:57Z",
    "remaining_tokens": 2750000,
    "bag_pct": 100,
    "still_holding": True,
    "currency": "SOL",
    "unrealized_pnl": 0.9,
}
_OTHER_TOKEN = {
    "mint": "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263",
    "token_name": "Neon King",
    "buy_value": 0.75,
    "buy_value_usd": 112.5,
    "sell_value": 0,
    "sell_value_usd": 0,
    "buy_tokens": 80,
    "sell_tokens": 0,
    "buy_txn": 1,
    "sell_txn": 0,
    "realized_pnl": 0,
    "realized_pnl_usd": 0,
    "realized_pnl_percentage": 0,
    "first_seen": "2026-01-30T12:03:20Z",
    "last_seen": "2026-01-30T12:03:20Z",
    "remaining_tokens": 80,
    "bag_pct": 100,
    "still_holding": True,
    "currency": "SOL",
    "unrealized_pnl": 0,
}
_EXAMPLE = {
    "wallet": ADDRESS,
    "profile": PROFILE | {"active_hours": "11:00-14:00 UTC"},
    "period_stats": {
        "period": "1d",
        "buy_txn": 3,
        "sell_txn": 1,
        "total_txn": 4,
        "total_buy": 6.75,
        "total_buy_usd": 1012.5,
        "total_sell": 2,
        "total_sell_usd": 300,
        "volume": 8.75,
        "volume_usd": 1312.5,
        "realized_pnl": 0.6,
        "realized_pnl_usd": 90,
        "realized_pnl_percentage": 42.8571,
        "win_count": 1,
        "loss_count": 0,
        "win_rate": 100,
        "best_trade_pnl": 0.6,
        "worst_trade_pnl": 0.6,
        "largest_buy": 3.5,
        "avg_hold_time_minutes": 1339.72,
    },
    "period_win_rate_distribution": {
        "win_rate_percentage": 100,
        "above_500": 0,
        "above_100_to_500": 0,
        "above_zero_to_100": 1,
        "below_zero": 0,
        "closed_count": 1,
        "win_count": 1,
    },
    "period_history_tokens": [_TOKEN, _OTHER_TOKEN],
    "period_realized_pnl_chart": [
        {
            "timestamp": "2026-01-29T12:51:16Z",
            "realized_pnl": 0,
            "realized_pnl_usd": 0,
        },
        {
            "timestamp": "2026-01-30T11:36:16Z",
            "realized_pnl": 0.6,
            "realized_pnl_usd": 90,
        },
        {
            "timestamp": "2026-01-30T12:51:16Z",
            "realized_pnl": 0.6,
            "realized_pnl_usd": 90,
        },
    ],
    "period_trades": [
        {
            "tx_signature": SIGNATURE,
            "mint": MINT,
            "token_name": "Doge Club",
            "transaction_type": "buy",
            "created_at": "2026-01-30T12:40:57Z",
            "value": 2.5,
            "value_usd": 375,
            "token_amount": 1250000,
            "currency": "SOL",
            "buy_value": 2.5,
            "buy_value_usd": 375,
        },
        {
            "tx_signature": "7777777777777777777777777777777777777777777777777777777777777777",
            "mint": "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263",
            "token_name": "Neon King",
            "transaction_type": "buy",
            "created_at": "2026-01-30T12:03:20Z",
            "value": 0.75,
            "value_usd": 112.5,
            "token_amount": 80,
            "currency": "SOL",
            "buy_value": 0.75,
            "buy_value_usd": 112.5,
        },
        {
            "tx_signature": "6666666666666666666666666666666666666666666666666666666666666666",
            "mint": MINT,
            "token_name": "Doge Club",
            "transaction_type": "sell",
            "created_at": "2026-01-30T11:30:45Z",
            "value": 2,
            "value_usd": 300,
            "token_amount": 1000000,
            "currency": "SOL",
            "sell_value": 2,
            "sell_value_usd": 300,
        },
        {
            "tx_signature": "3333333333333333333333333333333333333333333333333333333333333333",
            "mint": MINT,
            "token_name": "Doge Club",
            "transaction_type": "buy",
            "created_at": "2026-01-29T13:11:02Z",
            "value": 3.5,
            "value_usd": 525,
            "token_amount": 2500000,
            "currency": "SOL",
            "buy_value": 3.5,
            "buy_value_usd": 525,
        },
    ],
    "period_active_tokens": {
        "active_tokens_count": 2,
        "still_holding_count": 2,
        "avg_position_size": 3.375,
        "tokens": [_TOKEN, _OTHER_TOKEN],
    },
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
