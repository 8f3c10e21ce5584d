"""The tracked wallets: the list of a group, and one of them."""

from collections.abc import Callable
from threading import Lock
from typing import Any

import msgspec
import orjson
from cachetools import LRUCache

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.errors import WalletNotFound
from wallet_api.large import Share
from wallet_api.queries import cursors

_LIST = load_sql(__package__, "list_wallets")
_FIND = load_sql(__package__, "find_wallet")

# To look an id up takes a round trip, a tenth of the time of most answers.
_wallet_ids: LRUCache[tuple[str, str], int] = LRUCache(10_000)
_lock = Lock()


class _WalletKey(msgspec.Struct, array_like=True, frozen=True):
    """A wallet's place among those of its group."""

    address: cursors.Text


def find_wallet(connection: Connection, blockchain: str, type: str | None, address: str) -> int:
    """The id of the tracked wallet of this address. Raises NotFound if none has this type, if given."""
    found = connection.fetch_row(_FIND, {"blockchain": blockchain, "address": address})
    if found is None or type not in (None, found["type"]):
        raise WalletNotFound(blockchain, address, type)
    wallet_id: int = found["wallet_id"]
    return wallet_id


def read_wallet(
    connection: Connection,
    read: Callable[[int], Row | None],
    blockchain: str,
    address: str,
    type: str | None = None,
) -> Row:
    """Return what `read` finds for the id of a tracked wallet. Raises NotFound.

    It returns None if the wallet of the id has another address or type.
    """
    with _lock:
        wallet_id = _wallet_ids.get((blockchain, address))
    found = None if wallet_id is None else read(wallet_id)
    if found is None:
        # Not met yet; or another wallet has the id by now, or this one another type.
        wallet_id = find_wallet(connection, blockchain, type, address)
        with _lock:
            _wallet_ids[blockchain, address] = wallet_id
        found = read(wallet_id)
    if found is None:
        raise WalletNotFound(blockchain, address, type)
    return found


def list_wallets(
    connection: Connection,
    blockchain: str,
    type: str,
    limit: int | None = None,
    cursor: str | None = None,
    share: Share | None = None,
) -> dict[str, Any]:
    """The wallets of a group by address, byte-wise; all of them without `limit`.

    What is read is reserved in the `share`. Raises InvalidParameter, Busy.
    """
    scope = ("wallets", blockchain, type)
    after = cursors.decode(cursor, scope, _WalletKey).address if cursor else ""
    page = connection.fetch_row(
        _LIST,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "after": after,
            "limit": limit,
        },
    )
    assert page is not None
    if share is not None:
        share.reserve(len(page["wallets"]))
    last = _WalletKey(page["last_address"]) if page["has_more"] else None
    return {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "pagination": {
            "total": page["total"],
            "limit": page["total"] if limit is None else limit,
            "next_cursor": cursors.encode(scope, last) if last else None,
            "has_more": bool(page["has_more"]),
        },
        "wallets": orjson.Fragment(page["wallets"]),
    }
