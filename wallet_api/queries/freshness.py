"""The times of the newest trades and prices of the ledger."""

from wallet_api.base.chains import GROUPS
from wallet_api.base.coins import CURRENCIES
from wallet_api.database import Connection, Row, load_sql

_FRESHNESS = load_sql(__package__, "freshness")


def freshness(connection: Connection) -> list[Row]:
    """Return the Unix times of the newest `trades` of each group, and `prices` of each currency.

    Each is `at_seconds` beside its `kind` and the `first` and `second` label; None for the currency of
    tracked wallets that has no price.
    """
    blockchains, types = zip(*GROUPS, strict=True)
    parameters = {"blockchains": list(blockchains), "types": list(types), "currencies": list(CURRENCIES)}
    return connection.execute(_FRESHNESS, parameters).fetchall()
