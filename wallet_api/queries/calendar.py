"""The days and months of one wallet."""

from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql, rows_by
from wallet_api.errors import InvalidParameter
from wallet_api.wallets import Wallet

_OF_UTC = load_sql(__package__, "calendar")
_OF_ZONE = load_sql(__package__, "calendar_of_zone")
_IS_ZONE = "SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = %(timezone)s)"


def wallet_calendar(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    timezone: str = "UTC",
    *,
    dates: bool = True,
) -> dict[str, Any]:
    """Return what a wallet traded and realized on each of its days in a zone, and in each month until `now`.

    Without `dates`, the months alone. Raises WalletNotFound, InvalidParameter.
    """
    if timezone != "UTC" and not connection.fetch_value(_IS_ZONE, {"timezone": timezone}):
        raise InvalidParameter(
            f"Parameter timezone is {timezone[:40]!r}, which is no time zone of the IANA database, such as"
            " Europe/Berlin.",
            parameter="timezone",
        )
    parameters = {
        **wallet.parameters,
        "currency": CHAINS[wallet.blockchain].currency,
        "now": now.replace(microsecond=0),
        "timezone": timezone,
    }
    statement = _OF_UTC if timezone == "UTC" else _OF_ZONE
    head, [months, days] = connection.fetch_lists(statement, parameters, wallet.removed)
    days_of = rows_by(days, "starts_on")
    days_of_months: list[Any] = [days_of.get(month, []) for month in months["starts_on"]]
    last = {name.removeprefix("month_"): values[-1] for name, values in months.items() if values}
    data = {**head, "wallet": wallet.address, "months": months, "month": last}
    if not dates:
        return data
    return data | {
        "months": {**months, "dates": days_of_months},
        "dates": days_of_months[-1] if days_of_months else [],
    }
