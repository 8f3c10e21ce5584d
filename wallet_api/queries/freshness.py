"""The times of the newest trades and prices of the ledger."""

from typing import NamedTuple

from wallet_api.base.chains import CURRENCIES, GROUPS
from wallet_api.database import Connection, load_sql

_FRESHNESS = load_sql(__package__, "freshness")


class Freshness(NamedTuple):
    """The Unix time of the newest of the `trades` of a blockchain and type, or `prices` of a currency.

    It is None for the currency of tracked wallets that has no price.
    """

    kind: str
    first: str
    second: str
    at_seconds: float | None


def freshness(connection: Connection) -> list[Freshness]:
    """Return the times of the newest trade of each group and of the newest price of each currency."""
    blockchains, types = zip(*GROUPS, strict=True)
    rows = connection.execute(
        _FRESHNESS, {"blockchains": list(blockchains), "types": list(types), "currencies": list(CURRENCIES)}
    )
    return [Freshness(row["kind"], row["first"], row["second"], row["at_seconds"]) for row in rows]
