"""What one asks first of a wallet."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from wallet_api.database import Connection, rows_of
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries.history import wallet_history
from wallet_api.queries.leaderboard import Board
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.wallet_tokens import wallet_tokens

# The windows of a brief, by the periods of the boards that have their figures.
WINDOWS = {"all": "all", "week": "7d", "month": "30d"}
RANKED_BY = "pnl_without_best_token"
_ROWS = 3
_FIGURES = (
    *("realized_pnl", "realized_pnl_usd", "realized_pnl_percentage", "pnl_without_best_token"),
    *("win_rate_low", "total_txn", "sold_without_cost", "fees"),
)
_OF_TOKEN = ("mint", "symbol", "token_name", "realized_pnl", "realized_pnl_percentage", "still_holding")


def wallet_brief(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    boards: Mapping[str, Board],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return a wallet's figures over its life and two windows, its rank, and its best and latest trades.

    `boards` are those of its group by period. Raises WalletNotFound.
    """
    latest = wallet_history(connection, wallet, now, {"limit": _ROWS, "overview": False}, rule)
    by_profit = {"sort": "realized_pnl", "limit": _ROWS}
    best, worst = (
        rows_of(wallet_tokens(connection, wallet, now, by_profit | {"order": order}, rule)["tokens"])
        for order in ("desc", "asc")
    )
    known = {row["mint"] for row in best}
    return {
        **{name: value for name, value in latest.items() if name.startswith("profile_")},
        "currency": wallet.currency,
        **{name: latest[f"lifetime_stats_{name}"] for name in ("native_price_usd", "native_price_at")},
        "history_since": wallet.history_since,
        "history_until": wallet.history_until,
        **{name: _window(boards[period], wallet) for name, period in WINDOWS.items()},
        "rank": _rank(boards[WINDOWS["month"]], wallet.address),
        "held": _held(latest),
        "best": [_short(row) for row in best],
        "worst": [_short(row) for row in worst if row["mint"] not in known],
        "latest": latest["trades"],
    }


def _window(board: Board, wallet: Wallet) -> dict[str, Any]:
    bounds = board.span.bounds
    window = {**bounds, "since": None if board.span.is_all else bounds["since"]}
    entry = board.entry(wallet.address)
    if entry is None:
        return window | dict.fromkeys(_FIGURES, 0) | {"closed_count": 0}
    figures = {name: entry[f"period_stats_{name}"] for name in _FIGURES}
    return window | figures | {"closed_count": entry["period_win_rate_distribution_closed_count"]}


def _rank(board: Board, address: str) -> int | None:
    return board.rank(address, board.ranked(RANKED_BY, "desc", {}))


def _held(history: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the wallet holds; its worth is that of the tokens that have a price."""
    stats = {name: history[f"lifetime_stats_{name}"] for name in ("open_cost", "unpriced_cost")}
    held = {"tokens": history["lifetime_stats_still_holding_count"], **stats}
    gained = history["lifetime_stats_unrealized_pnl"]
    if gained is None:
        return held
    return held | {"worth": Decimal(gained) + Decimal(stats["open_cost"]) - Decimal(stats["unpriced_cost"])}


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _OF_TOKEN}
