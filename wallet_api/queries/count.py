"""How many trades a group of wallets made within a window."""

from datetime import datetime
from typing import Any

from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.volume import MAX_WINDOW_SECONDS
from wallet_api.queries.windows import window_until

_COUNT = load_sql(__package__, "count")


def count_trades(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    window_seconds: int,
    mint: str | None = None,
) -> dict[str, Any]:
    """Count a group's trades in (`now` - window, `now`], and the wallets that made them.

    They are the trades whose values group_volume adds up. `now` counts in whole seconds. The window is capped
    at 24 hours.
    """
    window = window_until(now, window_seconds, MAX_WINDOW_SECONDS, mint)
    parameters = {
        **group_parameters(blockchain, type),
        "mint": mint,
        "since": window.since,
        **window.parameters,
    }
    row = connection.execute(_COUNT, parameters).fetchone()
    assert row is not None
    data: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "mode": "count",
        "count": row["count"],
        "wallet_count": row["wallet_count"],
        "time_window_seconds": window.seconds,
    }
    if mint is not None:
        data["mint"] = mint
    return with_warnings(data, window.warnings)
