"""What there is of each group: how many wallets are tracked, and when they traded last."""

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.groups import all_groups

_WALLET_COUNTS, _TRADE_TIMES = (load_sql(__package__, name) for name in ("wallet_counts", "trade_times"))


def count_wallets(connection: Connection) -> dict[str, dict[str, int]]:
    """Return the number of tracked wallets by chain and type, for every type that a chain has."""
    counts: dict[str, dict[str, int]] = {chain: {} for chain in CHAINS}
    for row in connection.execute(_WALLET_COUNTS, all_groups()):
        counts[row["blockchain"]][row["type"]] = row["wallet_count"]
    return counts


def newest_trades(connection: Connection) -> list[Row]:
    """Return when the newest trade of a group was made: `blockchain`, `type`, `ends_at`, within 26 hours."""
    return connection.execute(_TRADE_TIMES, all_groups()).fetchall()
