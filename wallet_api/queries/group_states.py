"""What there is of each group: how many wallets are tracked, and when they traded last."""

from typing import LiteralString

from wallet_api.base.chains import CHAINS, GROUPS
from wallet_api.database import Connection, Row, load_sql

_WALLET_COUNTS, _TRADE_TIMES = (load_sql(__package__, name) for name in ("wallet_counts", "trade_times"))


def count_wallets(connection: Connection) -> dict[str, dict[str, int]]:
    """Return the number of tracked wallets by chain and type, for every type that a chain has."""
    counts: dict[str, dict[str, int]] = {chain: {} for chain in CHAINS}
    for row in _of_groups(connection, _WALLET_COUNTS):
        counts[row["blockchain"]][row["type"]] = row["wallet_count"]
    return counts


def newest_trades(connection: Connection) -> list[Row]:
    """Return when the newest trade of a group was made: `blockchain`, `type`, `ends_at`, within 26 hours."""
    return _of_groups(connection, _TRADE_TIMES)


def _of_groups(connection: Connection, statement: LiteralString) -> list[Row]:
    blockchains, types = zip(*GROUPS, strict=True)
    return connection.execute(statement, {"blockchains": list(blockchains), "types": list(types)}).fetchall()
