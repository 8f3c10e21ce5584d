"""What a group of wallets traded within a window."""

from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.windows import window_until

MAX_WINDOW_SECONDS = 86_400

_VOLUME = load_sql(__package__, "volume")


def group_volume(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    window_seconds: int,
    mint: str | None = None,
) -> dict[str, Any]:
    """Return the volume of a group's trades in (`now` - window, `now`], in native currency and USD.

    `now` counts in whole seconds. The window is capped at 24 hours. `volume_usd` is None if there are trades
    but none of them has a USD value.
    """
    currency = CHAINS[blockchain].currency
    window = window_until(now, window_seconds, MAX_WINDOW_SECONDS, mint)
    parameters = {
        **group_parameters(blockchain, type),
        "mint": mint,
        **window.parameters,
    }
    total = connection.execute(_VOLUME, parameters).fetchone()
    assert total is not None
    data: dict[str, Any] = {
        "blockchain": blockchain,
        "type": type,
        "mode": "volume",
        "volume": total["volume"],
        "volume_usd": total["volume_usd"],
        "currency": currency,
        "time_window_seconds": window.seconds,
    }
    if mint is not None:
        data["mint"] = mint
    warnings = window.warnings
    if total["is_partly_priced"]:
        warnings.append("volume_usd covers only the trades whose USD value is known.")
    return with_warnings(data, warnings)
