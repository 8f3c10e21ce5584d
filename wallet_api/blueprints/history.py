"""GET /v1/wallets/history: the lifetime record of one wallet."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from wallet_api.errors import WalletNotFound
from wallet_api.large import Share
from wallet_api.queries.history import wallet_history
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import respond_cached
from wallet_api.responses.examples import ADDRESS, HISTORY_PROFILE, MINT, SIGNATURE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.history import HistoryArguments, HistorySchema, UntypedHistoryArguments
from wallet_api.services import services

blueprint = Blueprint("history", __name__, url_prefix="/v1")

_EXAMPLE = {
    "profile": HISTORY_PROFILE,
    "lifetime_stats": {
        "currency": "SOL",
        "buy": 6.75,
        "sell": 2,
        "realized_pnl": 0.6,
        "realized_pnl_percentage": 42.8571,
        "buy_txn": 3,
        "sell_txn": 1,
        "total_tx_count": 4,
        "win_rate": 0,
        "win_count": 0,
        "total_sold": 0,
        "active_tokens_count": 2,
        "largest_buy": 3.5,
        "best_trade_pnl": 0.6,
        "worst_trade_pnl": 0.6,
        "still_holding_count": 2,
        "unrealized_pnl": 0.9,
        "unrealized_pnl_usd": 135,
        "priced_tokens_count": 2,
    },
    "win_rate_distribution": {
        "above_500": 0,
        "above_100_to_500": 0,
        "above_zero_to_100": 0,
        "below_zero": 0,
    },
    "token_overview": [
        {
            "mint": MINT,
            "token_name": "Doge Club",
            "invested": 6,
            "sold": 2,
            "realized_pnl": 0.6,
            "realized_pnl_percentage": 42.8571,
            "currency": "SOL",
            "buy_txn": 2,
            "sell_txn": 1,
            "first_seen": "2026-01-29T13:11:02Z",
            "last_seen": "2026-01-30T12:40:57Z",
            "still_holding": True,
            "unrealized_pnl": 0.9,
        },
        {
            "mint": "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263",
            "token_name": "Neon King",
            "invested": 0.75,
            "sold": 0,
            "realized_pnl": 0,
            "realized_pnl_percentage": 0,
            "currency": "SOL",
            "buy_txn": 1,
            "sell_txn": 0,
            "first_seen": "2026-01-30T12:03:20Z",
            "last_seen": "2026-01-30T12:03:20Z",
            "still_holding": True,
            "unrealized_pnl": 0,
        },
    ],
    "trades": [
        {
            "tx_signature": SIGNATURE,
            "mint": MINT,
            "token_name": "Doge Club",
            "transaction_type": "buy",
            "value": 2.5,
            "value_usd": 375,
            "currency": "SOL",
            "token_amount": 1250000,
            "created_at": "2026-01-30T12:40:57Z",
            "event_index": 0,
        }
    ],
    "pagination": {
        "limit": 1,
        "next_cursor": "WyJoaXN0b3J5Il0",
        "has_more": True,
    },
}

_typed, _untyped = HistoryArguments(), UntypedHistoryArguments()
_schema = HistorySchema()

_operation = Operation(
    tag="Wallets",
    summary="Lifetime record of a wallet",
    arguments=_typed,
    data=_schema,
    examples={"page": _EXAMPLE},
    errors=[WalletNotFound("solana", ADDRESS, "kol")],
    description="Where the operator has set HISTORY_TYPE=detected, `type` may be left out.",
)


@blueprint.get("/wallets/history")
@_operation.describes
def history() -> Response:
    """Return a wallet's lifetime figures, its record in every token, and a page of its trades."""
    detected = services().settings.history_type == "detected"
    arguments = load_arguments(_untyped if detected else _typed)
    return respond_cached(arguments, lambda share: _schema.dump(_data(share, **arguments)))


def _data(share: Share, type: str | None = None, **arguments: Any) -> dict[str, Any]:
    with services().database.read() as connection:
        return wallet_history(
            connection, datetime.now(UTC), type=type, **arguments, rule=services().price_rule, share=share
        )
