"""The trades of a group of wallets, newest first: a page of all of them, or those within a window."""

from datetime import datetime
from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.filled import require_filled
from wallet_api.queries.token_block import find_token
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import MAX_LIMIT, limit_warnings, window_until

MAX_WINDOW_SECONDS = 3600

_FEED = load_sql(__package__, "feed")

_NO_WINDOW = {"since": "-infinity", "sizes": None, "starts": None, "ends": None}
# No trade is as late.
_FROM_THE_START = ("infinity", False, "", 0, "", "")


class _TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """A trade's place among those of its group, in the order of the feed."""

    created_at: cursors.Moment
    is_sell: bool
    tx_signature: cursors.Text
    event_index: cursors.Index
    mint: cursors.Text
    address: cursors.Text


def latest_trades(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    limit: int = 50,
    mint: str | None = None,
    cursor: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """The newest `limit` trades of a group (at most 1000), or those after `cursor`; of one token with `mint`.

    Raises InvalidParameter, NotFilled.
    """
    mint = mint if mint is None else CHAINS[blockchain].canonical(mint)
    scope = ("latest", blockchain, type, *(() if mint is None else (mint,)))
    page_size = min(limit, MAX_LIMIT)
    after = cursors.decode(cursor, scope, _TradeKey) if cursor else None
    token, found = _read(connection, now, blockchain, type, page_size, mint, rule, _place(after) | _NO_WINDOW)
    last = _TradeKey(*[found[name] for name in _TradeKey.__struct_fields__]) if found["has_more"] else None
    data = {
        **_head("latest", blockchain, type, found),
        **_token(mint, token),
        "pagination": {
            "limit": page_size,
            "total": found["total"],
            "has_more": found["has_more"],
            "next_cursor": cursors.encode(scope, last) if last else None,
        },
    }
    if warnings := limit_warnings(limit):
        data["warnings"] = warnings
    return data


def trades_within(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    window_seconds: int,
    limit: int = 50,
    mint: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """The newest `limit` trades (at most 1000) of a group after `now` - window and not after `now`.

    `now` counts in whole seconds; the window is capped at an hour. Raises NotFilled.
    """
    mint = mint if mint is None else CHAINS[blockchain].canonical(mint)
    window = window_until(now, window_seconds, MAX_WINDOW_SECONDS, mint)
    page_size = min(limit, MAX_LIMIT)
    # All trades up to now are before the next instant.
    place = _place(None) | {"created_at": window.now + datetime.resolution}
    parameters = place | window.parameters | {"since": window.since}
    token, found = _read(connection, window.now, blockchain, type, page_size, mint, rule, parameters)
    data = {
        **_head("timerange", blockchain, type, found),
        "total": found["total"],
        "time_window_seconds": window.seconds,
        **_token(mint, token),
    }
    warnings = window.warnings + limit_warnings(limit)
    if found["has_more"]:
        warnings.append(f"Only the newest {found['row_count']} of {found['total']} trades are shown.")
    if warnings:
        data["warnings"] = warnings
    return data


def _read(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    limit: int,
    mint: str | None,
    rule: PriceRule,
    parameters: dict[str, Any],
) -> tuple[dict[str, Any] | None, Row]:
    """Return the token's block and a page of the trades."""
    token_id, token = (None, None) if mint is None else find_token(connection, now, rule, blockchain, mint)
    own = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "now": now,
        "limit": limit,
        "token_id": token_id,
    }
    found = connection.execute(_FEED, own | parameters).fetchone()
    assert found is not None
    require_filled(found)
    return token, found


def _place(after: _TradeKey | None) -> dict[str, Any]:
    names = ("created_at", "is_sell", "tx_signature", "event_index", "last_mint", "address")
    key = _FROM_THE_START if after is None else msgspec.structs.astuple(after)
    return dict(zip(names, key, strict=True))


def _head(mode: str, blockchain: str, type: str, found: Row) -> dict[str, Any]:
    return {
        "blockchain": blockchain,
        "type": type,
        "mode": mode,
        "currency": CHAINS[blockchain].currency,
        "count": found["row_count"],
        "transactions": orjson.Fragment(found["transactions"]),
    }


def _token(mint: str | None, token: dict[str, Any] | None) -> dict[str, Any]:
    return {} if mint is None else {"mint": mint} | ({} if token is None else {"token": token})
