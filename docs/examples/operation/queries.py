# wallet_api/queries/tracked.py
"""The number of tracked wallets."""

from typing import Any

from wallet_api.database import Connection, load_sql
from wallet_api.queries.groups import group_parameters

_COUNT = load_sql(__package__, "tracked")


def count_tracked(connection: Connection, blockchain: str, type: str) -> dict[str, Any]:
    """Return the number of tracked wallets of a group, of one type or of all."""
    row = connection.execute(_COUNT, group_parameters(blockchain, type)).fetchone()
    assert row is not None
    return {"blockchain": blockchain, "type": type, "count": row["count"]}
