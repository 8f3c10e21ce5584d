"""The lifetime record of one wallet."""

from threading import Lock
from typing import Any, LiteralString

import msgspec
import orjson
from cachetools import LRUCache

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.errors import WalletNotFound
from wallet_api.queries import cursors
from wallet_api.queries.wallets import find_wallet

MAX_LIMIT = 1000

LATER_PAGE = load_sql(__package__, "history")
# To compare each trade with a cursor after none of them takes a tenth of the statement's time.
_before, _, _compared = LATER_PAGE.partition("/* after the cursor */")
FIRST_PAGE = _before + _compared.partition("/* in any case */")[2]

# To look an id up takes a round trip, a tenth of the time of the whole answer.
_wallet_ids: LRUCache[tuple[str, str], int] = LRUCache(10_000)
_lock = Lock()


class _TradeKey(msgspec.Struct, array_like=True, frozen=True):
    """A trade's place among its wallet's: the order of the ledger, and the mint where that is equal."""

    created_at: cursors.Moment
    is_sell: bool
    tx_signature: cursors.Text
    event_index: cursors.Index
    mint: cursors.Text


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
    page_size = min(limit, MAX_LIMIT)
    parameters: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "address": address,
        "currency": CHAINS[blockchain].currency,
        "limit": page_size,
    }
    if cursor:
        parameters |= msgspec.structs.asdict(cursors.decode(cursor, scope, _TradeKey))
    found = _read(connection, LATER_PAGE if cursor else FIRST_PAGE, parameters)
    last = _TradeKey(*[found[name] for name in _TradeKey.__struct_fields__]) if found["has_more"] else None
    data = {
        "profile": orjson.Fragment(found["profile"]),
        "lifetime_stats": orjson.Fragment(found["lifetime_stats"]),
        "win_rate_distribution": orjson.Fragment(found["win_rate_distribution"]),
        "token_overview": orjson.Fragment(found["token_overview"]),
        "trades": orjson.Fragment(found["trades"]),
        "pagination": {
            "limit": page_size,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": found["has_more"],
        },
    }
    if limit > MAX_LIMIT:
        data["warnings"] = [f"limit was capped from {limit} to {MAX_LIMIT}."]
    return data


def _read(connection: Connection, statement: LiteralString, parameters: dict[str, Any]) -> Row:
    blockchain, type, address = parameters["blockchain"], parameters["type"], parameters["address"]
    with _lock:
        wallet_id = _wallet_ids.get((blockchain, address))
    found = None
    if wallet_id is not None:
        found = connection.execute(statement, {"wallet_id": wallet_id, **parameters}).fetchone()
    if found is None:
        # Not met yet; or another wallet has the id by now, or this one another type.
        wallet_id = find_wallet(connection, blockchain, type, address)
        with _lock:
            _wallet_ids[blockchain, address] = wallet_id
        found = connection.execute(statement, {"wallet_id": wallet_id, **parameters}).fetchone()
    if found is None:
        raise WalletNotFound(blockchain, address, type)
    return found
