"""The lifetime record of one wallet."""

from datetime import datetime
from threading import Lock
from typing import Any

import msgspec
import orjson
from cachetools import LRUCache

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, edit_sql, load_sql
from wallet_api.large import Share
from wallet_api.queries import cursors
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule, read_priced, split_search
from wallet_api.queries.wallets import read_wallet
from wallet_api.queries.windows import MAX_LIMIT, limit_warnings, with_warnings

LATER_PAGE = load_sql(__package__, "history")
# A first page without bounds need not compare each trade with any.
FIRST_PAGE = edit_sql(
    LATER_PAGE,
    lambda text: text.partition("/* within bounds */")[0] + text.partition("/* in any case */")[2],
)
_COUNT_TOKENS = load_sql(__package__, "count_tokens")
_SEARCHING = {page: split_search(page) for page in (LATER_PAGE, FIRST_PAGE)}

# Of a token in the overview, on average; to count a wallet's tokens takes a round trip.
_TOKEN_BYTES = 350
_overview_bytes: LRUCache[int, int] = LRUCache(10_000)
_lock = Lock()

_COUNTS = ("above_500", "above_100_to_500", "above_zero_to_100", "below_zero")
_STATS = (
    *("buy", "sell", "realized_pnl", "realized_pnl_percentage", "buy_txn", "sell_txn", "total_tx_count"),
    *("win_rate", "win_count", "total_sold", "active_tokens_count", "largest_buy", "best_trade_pnl"),
    *("worst_trade_pnl", "still_holding_count", "priced_tokens_count"),
)


class _TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """The place of a trade among those of its wallet: the order of the ledger, then the mint."""

    created_at: cursors.Moment
    is_sell: bool
    tx_signature: cursors.Text
    event_index: cursors.Index
    mint: cursors.Text


def wallet_history(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str | None,
    address: str,
    limit: int = 50,
    cursor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    overview: bool = True,
    rule: PriceRule = DEFAULT_RULE,
    share: Share | None = None,
) -> dict[str, Any]:
    """Return a wallet's lifetime figures and a page of `limit` trades (at most 1000), newest first.

    Without `type` the wallet can be of any. Only the trades are limited to `since` <= created_at < `until`.
    Without `overview`, token_overview is left out. Unrealized profit is by the prices at `now`. All of it is
    of one snapshot. What is read is reserved in the `share`. Raises WalletNotFound, InvalidParameter, Busy.
    """
    scope = ("history", blockchain, type or "", address, *_bounds(since, until))
    page_size = min(limit, MAX_LIMIT)
    parameters: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "address": address,
        "currency": CHAINS[blockchain].currency,
        "limit": page_size,
        "overview": overview,
        **rule.parameters(now),
    }
    is_bound = bool(cursor or since or until)
    if is_bound:
        # The place before all trades at `until`. What follows a cursor is earlier than that.
        start = {"created_at": until or "infinity", "is_sell": False, "tx_signature": "", "event_index": 0}
        after = msgspec.structs.asdict(cursors.decode(cursor, scope, _TradeKey)) if cursor else {"mint": ""}
        parameters |= start | after | {"since": since or "-infinity"}
    statement = LATER_PAGE if is_bound else FIRST_PAGE

    def read(wallet_id: int) -> Row | None:
        if overview and share is not None:
            share.reserve(_expected_bytes(connection, wallet_id))
        found = read_priced(
            connection, statement, _SEARCHING[statement], parameters | {"wallet_id": wallet_id}
        )
        if overview and found is not None:
            with _lock:
                _overview_bytes[wallet_id] = len(found["token_overview"])
        return found

    found = read_wallet(connection, read, blockchain, address, type)
    last = _TradeKey(*[found[name] for name in _TradeKey.__struct_fields__]) if found["has_more"] else None
    data = {
        "profile": orjson.Fragment(found["profile"]),
        **_figures(found, CHAINS[blockchain].currency),
        "token_overview": orjson.Fragment(found["token_overview"]),
        "trades": orjson.Fragment(found["trades"]),
        "pagination": {
            "limit": page_size,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": found["has_more"],
        },
    }
    if not overview:
        del data["token_overview"]
    return with_warnings(data, limit_warnings(limit))


def _expected_bytes(connection: Connection, wallet_id: int) -> int:
    """Return the size of a wallet's overview: what it was last, or by the number of its tokens."""
    with _lock:
        last = _overview_bytes.get(wallet_id)
    if last is not None:
        return last
    row = connection.fetch_row(_COUNT_TOKENS, {"wallet_id": wallet_id})
    return 0 if row is None else int(row["tokens"]) * _TOKEN_BYTES


def _bounds(since: datetime | None, until: datetime | None) -> list[str]:
    bounds = {"since": since, "until": until}
    return [f"{name} {moment.isoformat()}" for name, moment in bounds.items() if moment is not None]


def _figures(found: Row, currency: str) -> dict[str, Any]:
    if found["lifetime_stats"] is None:
        return {
            "lifetime_stats": {"currency": currency, **dict.fromkeys(_STATS, 0)},
            "win_rate_distribution": dict.fromkeys(_COUNTS, 0),
        }
    return {name: orjson.Fragment(found[name]) for name in ("lifetime_stats", "win_rate_distribution")}
