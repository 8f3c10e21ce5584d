"""The days and months of one wallet."""

from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql, rows_by
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
    head, [months, days] = connection.fetch_lists(_CALENDAR, parameters, wallet.removed)
    days_of = rows_by(days, "starts_on")
    dates: list[Any] = [days_of.get(month, []) for month in months["starts_on"]]
    last = {name.removeprefix("month_"): values[-1] for name, values in months.items() if values}
    return {
        **head,
        "wallet": wallet.address,
        "months": {**months, "dates": dates},
        "month": last,
        "dates": dates[-1] if dates else [],
    }
