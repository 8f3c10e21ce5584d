"""The list of the tracked wallets of a group."""

from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.groups import group_parameters

_LIST = load_sql(__package__, "list_wallets")


class _WalletKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a wallet in its group."""

    address: str


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
    after = cursors.decode_cursor(cursor, scope, _WalletKey).address if cursor else ""
    page, [wallets] = connection.fetch_lists(
        _LIST,
        {
            **group_parameters(blockchain, type),
            "after": after,
            "limit": limit,
        },
    )
    last = _WalletKey(wallets["wallet_address"][-1]) if page["has_more"] else None
    return {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "pagination": cursors.pagination(
            scope, page["total"] if limit is None else limit, last, total=page["total"]
        ),
        "wallets": wallets,
    }
