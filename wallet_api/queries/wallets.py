"""The tracked wallets: the list of a group, and one of them."""

from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.errors import WalletNotFound
from wallet_api.queries import cursors
from wallet_api.wallet_ids import WalletIds

_LIST = load_sql(__package__, "list_wallets")
_FIND = load_sql("wallet_api", "find_wallet")


class _WalletKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a wallet in its group."""

    address: str


def read_wallet(
    connection: Connection,
    ids: WalletIds,
    read: Callable[[int], Row | None],
    blockchain: str,
    address: str,
    type: str | None = None,
) -> Row:
    """Return what `read` returns for the id of a tracked wallet. Raises WalletNotFound.

    `read` must return None if the wallet of the id has another address or type.
    """
    row = ids.read(connection, read, blockchain, address)
    if row is None:
        raise WalletNotFound(blockchain, address, type)
    return row


def check_tracked(connection: Connection, blockchain: str, address: str, type: str) -> None:
    """Raise WalletNotFound unless the wallet is tracked as one of this type."""
    row = connection.execute(_FIND, {"blockchain": blockchain, "address": address}).fetchone()
    if row is None or row["type"] != type:
        raise WalletNotFound(blockchain, address, type)


def list_wallets(
    connection: Connection,
    blockchain: str,
    type: str,
    limit: int | None = None,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Return the wallets of a group in the byte order of their addresses; all of them without `limit`.

    Raises InvalidParameter.
    """
    scope = ("wallets", blockchain, type)
    after = cursors.decode(cursor, scope, _WalletKey).address if cursor else ""
    page = connection.execute(
        _LIST,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "after": after,
            "limit": limit,
        },
    ).fetchone()
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
