"""The wallets that trade the same tokens as one wallet."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql, rows_within
from wallet_api.periods import PERIOD_LENGTHS
from wallet_api.queries.paging import cut_warnings, with_warnings
from wallet_api.queries.windows import cut_period
from wallet_api.wallets import Wallet

PERIOD = "30d"
MAX_TOKENS = 50

_CONNECTIONS = load_sql(__package__, "connections")


def wallet_connections(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    limit: int | None = None,
    types: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the tracked wallets that traded the same tokens as this one in the 30 days until `now`.

    Those with most shared tokens come first, then by address; of these `types` alone, if they are given.
    Raises WalletNotFound.
    """
    now = now.replace(microsecond=0)
    since = now - PERIOD_LENGTHS[PERIOD]
    row, [connections] = connection.fetch_lists(
        _CONNECTIONS,
        {
            **wallet.parameters,
            "currency": CHAINS[wallet.blockchain].currency,
            "since": since,
            "now": now,
            "limit": limit,
            "types": None if types is None else list(types),
            "most_tokens": MAX_TOKENS,
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
    shown = row["total"] if limit is None else min(limit, row["total"])
    return with_warnings(data, cut_warnings(shown, row["total"], "connections"))
