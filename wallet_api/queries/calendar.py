"""The days and months of one wallet."""

from datetime import datetime
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.wallets import read_wallet
from wallet_api.wallet_ids import WalletIds

_CALENDAR = load_sql(__package__, "calendar")


def wallet_calendar(
    connection: Connection,
    ids: WalletIds,
    now: datetime,
    blockchain: str,
    address: str,
    type: str | None = None,
) -> dict[str, Any]:
    """Return what a wallet traded and realized on each of its days of UTC, and in each month until `now`.

    Raises WalletNotFound.
    """
    parameters = {
        "blockchain": blockchain,
        "address": address,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "now": now.replace(microsecond=0),
    }
    row = read_wallet(
        connection,
        ids,
        lambda wallet_id: connection.execute(_CALENDAR, parameters | {"wallet_id": wallet_id}).fetchone(),
        *(blockchain, address, type),
    )
    parts = ("profile", "months", "month", "dates")
    return {"wallet": address, **{part: orjson.Fragment(row[part]) for part in parts}}
