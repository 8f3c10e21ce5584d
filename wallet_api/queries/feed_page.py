"""A page of a feed: its first key, its trades, and the cursor of the next page."""

from datetime import datetime
from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.token_block import find_token
from wallet_api.queries.token_price import PriceRule
from wallet_api.queries.windows import MAX_LIMIT, limit_warnings, with_warnings

_FEED = load_sql(__package__, "feed")
_TOKEN_FEED = load_sql(__package__, "token_feed")

# The parameters of a feed without a window.
NO_WINDOW = {"since": "-infinity", "sizes": None, "starts": None, "ends": None}
# The key before the first page: later than any trade.
_START_KEY = ("infinity", False, "", 0, "", "")


class TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trade in a feed."""

    created_at: cursors.Moment
    is_sell: bool
    tx_signature: cursors.Text
    event_index: cursors.Index
    mint: cursors.Text
    address: cursors.Text


def read_page(
    connection: Connection,
    now: datetime,
    rule: PriceRule,
    blockchain: str,
    type: str | None,
    mint: str | None,
    limit: int,
    parameters: dict[str, Any],
) -> tuple[dict[str, Any] | None, Row]:
    """Return the block of a token and a page of its trades; without `mint`, None and a page of all trades.

    `limit` is at most MAX_LIMIT. Without `type`, which requires `mint`, the trades are those of all types.
    The block is None if the token is unknown.
    """
    defaults = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "now": now,
        "limit": limit,
        "with_token": True,
    }
    if mint is None:
        token, row = None, connection.execute(_FEED, defaults | parameters).fetchone()
    else:
        token_id, token = find_token(connection, now, rule, blockchain, mint)
        row = connection.execute(_TOKEN_FEED, defaults | {"token_id": token_id} | parameters).fetchone()
    assert row is not None
    return token, row


def parameters_after(cursor: str | None, scope: cursors.Scope) -> dict[str, Any]:
    """Return the parameters of the page after `cursor`, or of the first one. Raises InvalidParameter."""
    return key_parameters(cursors.decode(cursor, scope, TradeKey) if cursor else None)


def key_parameters(after: TradeKey | None) -> dict[str, Any]:
    """Return the parameters of the page after a trade, or of the first one."""
    names = ("created_at", "is_sell", "tx_signature", "event_index", "last_mint", "address")
    key = _START_KEY if after is None else msgspec.structs.astuple(after)
    return dict(zip(names, key, strict=True))


def rows_of(row: Row) -> dict[str, Any]:
    """Return the trades of a page, and their number."""
    return {"count": row["row_count"], "transactions": orjson.Fragment(row["transactions"])}


def pagination_of(row: Row, limit: int, scope: cursors.Scope) -> dict[str, Any]:
    """Return the pagination of a page, and a warning if `limit` is above the maximum."""
    last = TradeKey(*[row[name] for name in TradeKey.__struct_fields__]) if row["has_more"] else None
    pagination = {
        "limit": min(limit, MAX_LIMIT),
        "total": row["total"],
        "has_more": row["has_more"],
        "next_cursor": cursors.encode(scope, last) if last else None,
    }
    return with_warnings({"pagination": pagination}, limit_warnings(limit))
