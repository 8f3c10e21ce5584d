"""How many wallets are tracked."""

from wallet_api.base.chains import CHAINS, GROUPS
from wallet_api.database import Connection, load_sql

_WALLET_COUNTS = load_sql(__package__, "wallet_counts")


def count_wallets(connection: Connection) -> dict[str, dict[str, int]]:
    """Return the number of tracked wallets by chain and type, for every type that a chain has."""
    blockchains, types = zip(*GROUPS, strict=True)
    rows = connection.execute(_WALLET_COUNTS, {"blockchains": list(blockchains), "types": list(types)})
    counts: dict[str, dict[str, int]] = {chain: {} for chain in CHAINS}
    counted = {(row["blockchain"], row["type"]): row["wallet_count"] for row in rows}
    for blockchain, type in GROUPS:
        counts[blockchain][type] = counted[blockchain, type]
    return counts
