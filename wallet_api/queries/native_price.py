"""The price of the native coin, for responses whose statements return rows alone."""

from datetime import datetime
from decimal import Decimal

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql

_NATIVE_PRICE = load_sql(__package__, "native_price")


def read_native_price(connection: Connection, now: datetime, blockchain: str) -> Decimal | None:
    """Return the latest price of a chain's coin in USD at `now`."""
    parameters = {"currency": CHAINS[blockchain].currency, "now": now}
    price: Decimal | None = connection.fetch_value(_NATIVE_PRICE, parameters)
    return price
