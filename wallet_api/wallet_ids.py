"""The ids of tracked wallets, by which statements read what there is of one wallet."""

from collections.abc import Callable
from threading import Lock

from cachetools import LRUCache

from wallet_api.database import Connection, Row, load_sql

_FIND = load_sql(__package__, "find_wallet")

# To look an id up takes a round trip. No id is trusted: who reads by it checks the address too.
_ids: LRUCache[tuple[str, str], int] = LRUCache(10_000)
_lock = Lock()


def read_by_id(
    connection: Connection, read: Callable[[int], Row | None], blockchain: str, address: str
) -> Row | None:
    """Return what `read` returns for the id of a tracked wallet; None if there is no such wallet.

    `read` returns None if the wallet of the id is another one by now.
    """
    with _lock:
        known_id = _ids.get((blockchain, address))
    row = None if known_id is None else read(known_id)
    if row is not None:
        return row
    wallet = connection.fetch_row(_FIND, {"blockchain": blockchain, "address": address})
    if wallet is None or wallet["wallet_id"] == known_id:
        return None
    with _lock:
        _ids[blockchain, address] = wallet["wallet_id"]
    return read(wallet["wallet_id"])
