"""The price of the native coin, for responses whose statements return rows alone."""

from datetime import datetime

from wallet_api.base.chains import CHAINS
from wallet_api.base.coins import CURRENCIES
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.groups import all_groups

_NATIVE_PRICE = load_sql(__package__, "native_price")
_COINS = load_sql(__package__, "coins")


COLUMNS = ("native_price_usd", "native_price_at")


def read_native_price(connection: Connection, now: datetime, blockchain: str) -> Row:
    """Return the latest price of a chain's coin at `now`, and its time, by COLUMNS; None without one."""
    parameters = {"currency": CHAINS[blockchain].currency, "now": now}
    return connection.fetch_row(_NATIVE_PRICE, parameters)


def native_price_of(row: Row) -> Row:
    """Return the columns of a row that are the price of the native coin, and its time."""
    return {name: row[name] for name in COLUMNS}


def read_coins(connection: Connection, now: datetime) -> list[Row]:
    """Return each `currency`, when its newest price at `now` was made (`priced_at`, None without one).

    Beside it is whether its chains have wallets (`is_tracked`).
    """
    parameters = {**all_groups(), "currencies": list(CURRENCIES), "now": now}
    return connection.execute(_COINS, parameters).fetchall()
