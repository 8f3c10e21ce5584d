"""What a group of wallets traded within a window, and by how many trades."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, LiteralString

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.windows import window_until

MAX_WINDOW_SECONDS = 86_400

_COUNT, _VOLUME = (load_sql(__package__, name) for name in ("count", "volume"))


def count_trades(connection: Connection, now: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """Count a group's trades in (`now` - window, `now`], and the wallets that made them.

    They are the trades whose values group_volume adds up. `now` counts in whole seconds. The window is capped
    at 24 hours.
    """
    data, warnings = _read(connection, _COUNT, now, given)
    return with_warnings(data | {"mode": "count"}, warnings)


def group_volume(connection: Connection, now: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the volume of a group's trades in (`now` - window, `now`], in native currency and USD.

    `now` counts in whole seconds. The window is capped at 24 hours. `volume_usd` is None if there are trades
    but none of them has a USD value.
    """
    data, warnings = _read(connection, _VOLUME, now, given)
    if data.pop("is_partly_priced"):
        warnings.append("volume_usd covers only the trades whose USD value is known.")
    currency = CHAINS[given["blockchain"]].currency
    return with_warnings(data | {"mode": "volume", "currency": currency}, warnings)


def _read(
    connection: Connection, statement: LiteralString, now: datetime, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the row of a statement about a window, with what was asked; and the warnings."""
    window = window_until(now, given["window_seconds"], MAX_WINDOW_SECONDS, given.get("mint"))
    parameters = {
        **group_parameters(given["blockchain"], given["type"]),
        "mint": given.get("mint"),
        "since": window.since,
        **window.parameters,
    }
    row = connection.fetch_row(statement, parameters)
    asked = {name: given[name] for name in ("blockchain", "type", "mint") if name in given}
    return asked | row | {"time_window_seconds": window.seconds}, window.warnings
