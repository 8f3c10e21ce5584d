"""The days and months of one wallet."""

from datetime import datetime
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.wallets import Wallet

_CALENDAR = load_sql(__package__, "calendar")


def wallet_calendar(connection: Connection, wallet: Wallet, now: datetime) -> dict[str, Any]:
    """Return what a wallet traded and realized on each of its days of UTC, and in each month until `now`.

    Raises WalletNotFound.
    """
    parameters = {
        **wallet.parameters,
        "currency": CHAINS[wallet.blockchain].currency,
        "now": now.replace(microsecond=0),
    }
    row = connection.execute(_CALENDAR, parameters).fetchone()
    if row is None:
        raise wallet.removed
    parts = ("profile", "months", "month", "dates")
    return {"wallet": wallet.address, **{part: orjson.Fragment(row[part]) for part in parts}}
