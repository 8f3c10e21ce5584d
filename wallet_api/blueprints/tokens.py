"""GET /v1/tokens/transactions, /stats and /holders: what tracked wallets do in a token, and who holds it."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.blocking import about_to_block
from wallet_api.errors import TokenNotFound
from wallet_api.large import Share
from wallet_api.queries.tokens import token_holders, token_stats, token_transactions
from wallet_api.responses.cached import Lifetime
from wallet_api.responses.examples import ADDRESS, PROFILE, TOKEN, TOKEN_TRANSACTION
from wallet_api.responses.operation import Operation
from wallet_api.schemas.tokens import (
    TokenArguments,
    TokenHoldersArguments,
    TokenHoldersSchema,
    TokenStatsSchema,
    TokenTransactionsArguments,
    TokenTransactionsSchema,
)
from wallet_api.services import services

blueprint = Blueprint("tokens", __name__, url_prefix="/v1")

_OTHER = "So11111111111111111111111111111111111111112"
_TRANSACTIONS = {
    "token": TOKEN,
    "blockchain": "solana",
    "type": "kol",
    "currency": "SOL",
    "count": 1,
    "transactions": [TOKEN_TRANSACTION],
    "pagination": {
        "limit": 1,
        "total": 4,
        "has_more": True,
        "next_cursor": "WyJ0b2tlbnMiXQ",
    },
}
_HOLDINGS = TOKEN_TRANSACTION["holdings_after"]
_TOTAL_HOLDERS = {
    "kol_count": 2,
    "smart_count": 0,
    "whale_count": 0,
    "still_holding_count": 2,
}
_STATS = {
    "token": TOKEN,
    "total_holders": _TOTAL_HOLDERS,
    "total_holdings": {
        "token_amount": 3350000,
        "token_amount_peak": 3350000,
        "supply_pct": None,
        "supply_pct_peak": None,
    },
    "total_statistics": {
        "total_buy": 7.2,
        "total_buy_usd": 1080,
        "total_sell": 2,
        "total_sell_usd": 300,
        "total_volume": 9.2,
        "total_volume_usd": 1380,
        "net_flow": 5.2,
        "net_flow_usd": 780,
        "buying_pressure": 0.7826,
        "avg_position_size": 3.6,
        "largest_position": 6,
        "first_entry_time": "2026-01-29T13:11:02Z",
        "first_entry_type": "kol",
        "first_entry_wallet_address": ADDRESS,
        "latest_entry_time": "2026-01-30T10:02:13Z",
        "latest_entry_type": "kol",
        "latest_entry_wallet_address": _OTHER,
        "time_since_first_entry_hours": 23.67,
    },
    "traders": [
        {
            "profile": PROFILE,
            "trader_holdings": _HOLDINGS
            | {
                "remaining_sol": 5.5,
                "remaining_usd": 825,
                "unrealized_pnl_sol": 0.9,
                "unrealized_pnl_usd": 135,
                "unrealized_pnl_pct": 19.5652,
                "entry_market_cap": None,
                "entry_market_cap_usd": None,
            },
            "trader_stats": {
                "buy": 6,
                "buy_usd": 900,
                "buy_count": 2,
                "buy_tokens": 3750000,
                "sell": 2,
                "sell_usd": 300,
                "sell_count": 1,
                "sell_tokens": 1000000,
                "volume_buy": 6,
                "volume_buy_usd": 900,
                "volume_sell": 2,
                "volume_sell_usd": 300,
                "avg_buy_price": 0.0000016,
                "realized_pnl": 0.6,
                "realized_pnl_usd": 90,
                "realized_pnl_percentage": 42.8571,
                "first_trade_at": "2026-01-29T13:11:02Z",
                "last_trade_at": "2026-01-30T12:40:57Z",
            },
        },
        {
            "profile": PROFILE
            | {
                "wallet_address": _OTHER,
                "name": "Otto",
                "image_url": "https://images.example/otto.png",
                "twitter": "https://x.example/Otto",
                "copytrade_link": f"https://copytrade.example/solana/{_OTHER}",
            },
            "trader_holdings": {
                "token_amount": 600000,
                "token_amount_peak": 600000,
                "bag_pct": 100,
                "still_holding": True,
                "supply_pct": None,
                "supply_pct_peak": None,
                "remaining_sol": 1.2,
                "remaining_usd": 180,
                "unrealized_pnl_sol": 0,
                "unrealized_pnl_usd": 0,
                "unrealized_pnl_pct": 0,
                "entry_market_cap": None,
                "entry_market_cap_usd": None,
            },
            "trader_stats": {
                "buy": 1.2,
                "buy_usd": 180,
                "buy_count": 1,
                "buy_tokens": 600000,
                "sell": 0,
                "sell_usd": 0,
                "sell_count": 0,
                "sell_tokens": 0,
                "volume_buy": 1.2,
                "volume_buy_usd": 180,
                "volume_sell": 0,
                "volume_sell_usd": 0,
                "avg_buy_price": 0.000002,
                "realized_pnl": 0,
                "realized_pnl_usd": 0,
                "realized_pnl_percentage": 0,
                "first_trade_at": "2026-01-30T10:02:13Z",
                "last_trade_at": "2026-01-30T10:02:13Z",
            },
        },
    ],
}
_HOLDERS = {
    "token": TOKEN,
    "total_holders": _TOTAL_HOLDERS,
    "total": 2,
    "count": 1,
    "holders": [{"profile": PROFILE, "holdings": _HOLDINGS}],
}
_ERRORS = [TokenNotFound()]

_transactions = Operation(
    tag="Tokens",
    summary="Trades in a token",
    arguments=TokenTransactionsArguments(),
    data=TokenTransactionsSchema(),
    examples={"page": _TRANSACTIONS},
    errors=_ERRORS,
    description="`holdings_after` is by the wallet's trades alone: what came in otherwise is not in it.",
    beside="pagination",
    # A feed that repeats itself is a fault.
    lifetime=Lifetime.SHORT,
)
_stats = Operation(
    tag="Tokens",
    summary="Figures of a token and its traders",
    arguments=TokenArguments(),
    data=TokenStatsSchema(),
    examples={"traders": _STATS},
    errors=_ERRORS,
    description="Profit is by weighted-average cost, never sells minus buys. The price is that of the newest"
    " trade in the ledger that is large and recent enough; market caps and supplies are not known.",
)
_holders = Operation(
    tag="Tokens",
    summary="Holders of a token",
    arguments=TokenHoldersArguments(),
    data=TokenHoldersSchema(),
    examples={"one_holder": _HOLDERS},
    errors=_ERRORS,
    description="What is held is by the wallets' trades alone: what came in otherwise is not in it.",
)


@blueprint.get("/tokens/transactions")
@_transactions.cached
def transactions(**arguments: Any) -> dict[str, Any]:
    """Return a page of all trades of tracked wallets in a token, newest first."""
    with services().database.read() as connection:
        return token_transactions(connection, datetime.now(UTC), **arguments, rule=services().price_rule)


@blueprint.get("/tokens/stats")
@_stats.cached_large
def stats(share: Share, **arguments: Any) -> dict[str, Any]:
    """Return what tracked wallets did in a token and still hold, together and each by itself."""
    # A token of all wallets takes the database longer than it takes to let other requests run meanwhile.
    about_to_block()
    with services().database.read() as connection:
        return token_stats(
            connection, datetime.now(UTC), **arguments, rule=services().price_rule, share=share
        )


@blueprint.get("/tokens/holders")
@_holders.cached
def holders(**arguments: Any) -> dict[str, Any]:
    """Return the tracked wallets that ever held a token, by how much of it they hold."""
    with services().database.read() as connection:
        return token_holders(connection, datetime.now(UTC), **arguments, rule=services().price_rule)
