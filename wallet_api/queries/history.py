"""The lifetime record of one wallet."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.wallets import find_wallet

MAX_LIMIT = 1000

_HISTORY = load_sql(__package__, "history")

_PROFILE = ("name", "image_url", "twitter", "telegram", "blockchain", "type")


class _TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """A trade's place among its wallet's: the order of the ledger, and the mint where that is equal."""

    created_at: cursors.Moment
    is_sell: bool
    tx_signature: cursors.Text
    event_index: cursors.Index
    mint: cursors.Text


_NEWEST = _TradeKey(datetime(9999, 12, 31, tzinfo=UTC), True, "", 0, "")


def wallet_history(
    connection: Connection,
    blockchain: str,
    type: str,
    address: str,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The wallet's lifetime figures and its newest `limit` trades (at most 1000), or those after `cursor`.

    All of one database snapshot. Raises NotFound, InvalidParameter.
    """
    scope = ("history", blockchain, type, address)
    after = cursors.decode(cursor, scope, _TradeKey) if cursor else _NEWEST
    wallet = find_wallet(connection, blockchain, address, type)
    currency = CHAINS[blockchain].currency
    page_size = min(limit, MAX_LIMIT)
    parameters = {"wallet_id": wallet.wallet_id, "currency": currency, "limit": page_size}
    found = connection.execute(_HISTORY, parameters | msgspec.structs.asdict(after)).fetchone()
    assert found is not None
    last = _TradeKey(*(found[f"last_{name}"] for name in _TradeKey.__struct_fields__))
    data = {
        "profile": {"wallet_address": found["address"], "currency": currency}
        | {n: found[n] for n in _PROFILE},
        "lifetime_stats": orjson.Fragment(found["lifetime_stats"]),
        "win_rate_distribution": orjson.Fragment(found["win_rate_distribution"]),
        "token_overview": orjson.Fragment(found["token_overview"]),
        "trades": orjson.Fragment(found["trades"]),
        "pagination": {
            "limit": page_size,
            "next_cursor": cursors.encode(scope, last) if found["has_more"] else None,
            "has_more": found["has_more"],
        },
    }
    if limit > MAX_LIMIT:
        data["warnings"] = [f"limit was capped from {limit} to {MAX_LIMIT}."]
    return data
