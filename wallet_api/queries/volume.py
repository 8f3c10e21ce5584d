"""What a group of wallets traded within a window."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.windows import window_until

MAX_WINDOW_SECONDS = 86_400

_VOLUME = load_sql(__package__, "volume")


def group_volume(connection: Connection, now: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the volume of a group's trades in (`now` - window, `now`], in native currency and USD.

    `now` counts in whole seconds. The window is capped at 24 hours. `volume_usd` is None if there are trades
    but none of them has a USD value.
    """
    window = window_until(now, given["window_seconds"], MAX_WINDOW_SECONDS, given.get("mint"))
    parameters = {
        **group_parameters(given["blockchain"], given["type"]),
        "mint": given.get("mint"),
        **window.parameters,
    }
    total = connection.execute(_VOLUME, parameters).fetchone()
    assert total is not None
    data: dict[str, Any] = {
        **{name: given[name] for name in ("blockchain", "type", "mint") if name in given},
        "mode": "volume",
        "volume": total["volume"],
        "volume_usd": total["volume_usd"],
        "currency": CHAINS[given["blockchain"]].currency,
        "time_window_seconds": window.seconds,
    }
    warnings = window.warnings
    if total["is_partly_priced"]:
        warnings.append("volume_usd covers only the trades whose USD value is known.")
    return with_warnings(data, warnings)
