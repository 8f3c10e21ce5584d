"""The tracked wallets: the list of a group, and one of them."""

from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.errors import WalletNotFound
from wallet_api.queries import cursors

_LIST = load_sql(__package__, "list_wallets")
_FIND = load_sql(__package__, "find_wallet")


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


def list_wallets(
    connection: Connection, blockchain: str, type: str, limit: int | None = None, cursor: str | None = None
) -> dict[str, Any]:
    """The wallets of a group by address, byte-wise; all of them without `limit`. Raises InvalidParameter."""
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
