"""How many trades a group of wallets made within a window."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.volume import MAX_WINDOW_SECONDS
from wallet_api.queries.windows import window_until

_COUNT = load_sql(__package__, "count")


def count_trades(connection: Connection, now: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """Count a group's trades in (`now` - window, `now`], and the wallets that made them.

    They are the trades whose values group_volume adds up. `now` counts in whole seconds. The window is capped
    at 24 hours.
    """
    window = window_until(now, given["window_seconds"], MAX_WINDOW_SECONDS, given.get("mint"))
    parameters = {
        **group_parameters(given["blockchain"], given["type"]),
        "mint": given.get("mint"),
        "since": window.since,
        **window.parameters,
    }
    row = connection.execute(_COUNT, parameters).fetchone()
    assert row is not None
    data: dict[str, Any] = {
        **{name: given[name] for name in ("blockchain", "type", "mint") if name in given},
        "mode": "count",
        "count": row["count"],
        "wallet_count": row["wallet_count"],
        "time_window_seconds": window.seconds,
    }
    return with_warnings(data, window.warnings)
