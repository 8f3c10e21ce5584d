"""How many trades a group of wallets made within a window."""

from datetime import datetime, timedelta
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.filled import require_filled
from wallet_api.queries.spans import columns, cover
from wallet_api.queries.volume import BUCKET_SECONDS, MAX_WINDOW_SECONDS, TOKEN_BUCKET_SECONDS

_COUNT = load_sql(__package__, "count")


def count_trades(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    window_seconds: int,
    mint: str | None = None,
) -> dict[str, Any]:
    """The number of a group's trades after `now` - window and not after `now`, and of their wallets.

    They are the trades that group_volume sums. `now` counts in whole seconds. Raises NotFilled.
    """
    chain = CHAINS[blockchain]
    effective = min(window_seconds, MAX_WINDOW_SECONDS)
    now = now.replace(microsecond=0)
    since = now - timedelta(seconds=effective)
    spans = cover(since, now, BUCKET_SECONDS if mint is None else TOKEN_BUCKET_SECONDS)
    parameters = {
        "blockchain": blockchain,
        "type": type,
        "mint": mint if mint is None else chain.canonical(mint),
        "now": now,
        "since": since,
    }
    found = connection.execute(_COUNT, parameters | columns(spans)).fetchone()
    assert found is not None
    require_filled(found)
    data: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "mode": "count",
        "count": found["count"],
        "wallet_count": found["wallet_count"],
        "time_window_seconds": effective,
    }
    if mint is not None:
        data["mint"] = parameters["mint"]
    if effective < window_seconds:
        data["warnings"] = [f"The window was capped from {window_seconds} to {effective} seconds."]
    return data
