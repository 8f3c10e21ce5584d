"""The lifetime record of one wallet."""

from datetime import datetime
from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule, read_priced
from wallet_api.queries.wallets import read_wallet
from wallet_api.wallet_ids import WalletIds

HISTORY = load_sql(__package__, "history")

_COUNTS = ("above_500", "above_100_to_500", "above_zero_to_100", "below_zero")
_STATS = (
    *("buy", "sell", "realized_pnl", "realized_pnl_percentage", "sold_without_cost", "buy_txn"),
    *("sell_txn", "total_tx_count"),
    *("win_rate", "win_count", "total_sold", "active_tokens_count", "largest_buy", "best_trade_pnl"),
    *("worst_trade_pnl", "still_holding_count", "priced_tokens_count"),
)


class _TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trade of one wallet: that of the ledger, then the mint."""

    created_at: datetime
    is_sell: bool
    tx_signature: str
    event_index: int
    mint: str


def wallet_history(
    connection: Connection,
    ids: WalletIds,
    now: datetime,
    blockchain: str,
    type: str | None,
    address: str,
    limit: int = 50,
    cursor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    overview: bool = True,
    mint: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return a wallet's lifetime figures and a page of `limit` trades (at most 1000), newest first.

    Without `type` the wallet can be of any. Only the trades are limited to `since` <= created_at < `until`.
    Without `overview`, token_overview is left out; with `mint`, it and the trades are of one token alone.
    Unrealized profit is by the prices at `now`. All of it is of one snapshot. Raises WalletNotFound,
    InvalidParameter.
    """
    of_token = [] if mint is None else [mint]
    scope = ("history", blockchain, type or "", address, *_bounds(since, until), *of_token)
    page_size = min(limit, MAX_LIMIT)
    parameters: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "address": address,
        "currency": CHAINS[blockchain].currency,
        "limit": page_size,
        "overview": overview,
        "of_mint": mint,
        **rule.parameters(now),
    }
    # Without bounds and cursor, start before the newest trade.
    start = {"created_at": until or "infinity", "is_sell": False, "tx_signature": "", "event_index": 0}
    after = msgspec.structs.asdict(cursors.decode(cursor, scope, _TradeKey)) if cursor else {"mint": ""}
    parameters |= start | after | {"since": since or "-infinity"}
    row = read_wallet(
        connection,
        ids,
        lambda wallet_id: read_priced(connection, HISTORY, parameters | {"wallet_id": wallet_id}),
        *(blockchain, address, type),
    )
    last = _TradeKey(*[row[name] for name in _TradeKey.__struct_fields__]) if row["has_more"] else None
    data = {
        "profile": orjson.Fragment(row["profile"]),
        **_figures(row, CHAINS[blockchain].currency),
        "token_overview": orjson.Fragment(row["token_overview"]),
        "trades": orjson.Fragment(row["trades"]),
        "pagination": {
            "limit": page_size,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": row["has_more"],
        },
    }
    if not overview:
        del data["token_overview"]
    return with_warnings(data, limit_warnings(limit))


def _bounds(since: datetime | None, until: datetime | None) -> list[str]:
    bounds = {"since": since, "until": until}
    return [f"{name} {moment.isoformat()}" for name, moment in bounds.items() if moment is not None]


def _figures(row: Row, currency: str) -> dict[str, Any]:
    if row["lifetime_stats"] is None:
        return {
            "lifetime_stats": {"currency": currency, **dict.fromkeys(_STATS, 0)},
            "win_rate_distribution": dict.fromkeys(_COUNTS, 0),
        }
    return {name: orjson.Fragment(row[name]) for name in ("lifetime_stats", "win_rate_distribution")}
