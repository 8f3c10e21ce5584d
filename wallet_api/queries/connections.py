"""The wallets that trade the same tokens as one wallet."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from wallet_api.base.periods import PERIOD_LENGTHS
from wallet_api.database import Connection, load_sql, rows_within
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries import cursors
from wallet_api.queries.paging import cut_warnings, with_warnings
from wallet_api.queries.windows import cut_period

PERIOD = "30d"
MAX_TOKENS = 50


class _ConnectionKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a connection."""

    shared: int
    after: str


# Before the first one.
_START = _ConnectionKey(2**62, "")
_CONNECTIONS = load_sql(__package__, "connections")


def wallet_connections(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    types: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the tracked wallets that traded the same tokens as this one in the 30 days until `now`.

    Those with most shared tokens come first, then by address; all of them without `limit`, of these `types`
    alone, if they are given. Raises WalletNotFound, InvalidParameter.
    """
    limit, cursor = given.get("limit"), given.get("cursor")
    scope = ("wallets/connections", wallet.blockchain, wallet.address)
    key = cursors.decode_cursor(cursor, scope, _ConnectionKey) if cursor else _START
    now = now.replace(microsecond=0)
    since = now - PERIOD_LENGTHS[PERIOD]
    row, [connections] = connection.fetch_lists(
        _CONNECTIONS,
        {
            **wallet.parameters,
            "since": since,
            "now": now,
            "limit": limit,
            "types": None if types is None else list(types),
            "most_tokens": MAX_TOKENS,
            **msgspec.structs.asdict(key),
            **cut_period(since, now),
        },
        wallet.removed,
    )
    data = {
        "wallet_address": wallet.address,
        "blockchain": wallet.blockchain,
        "type": row["type"],
        "period": PERIOD,
        "token_count": row["token_count"],
        "total": row["total"],
        "connections": {**connections, "shared_tokens": rows_within(connections, "shared_token")},
    }
    last = None
    if row["has_more"]:
        last = _ConnectionKey(*(connections[name][-1] for name in ("shared_tokens_count", "wallet_address")))
    size = row["total"] if limit is None else limit
    data["pagination"] = cursors.pagination(scope, size, last, total=row["total"])
    shown = size if limit is None or cursor else min(limit, row["total"])
    return with_warnings(data, cut_warnings(shown, row["total"], "connections") if not cursor else [])
