"""The days and months of one wallet."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from wallet_api.base.errors import InvalidParameter
from wallet_api.database import Connection, load_sql, rows_by
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries.spans import TimeSpan, span_of_wallet
from wallet_api.queries.windows import cut_period

_OF_UTC = load_sql(__package__, "calendar")
_OF_ZONE = load_sql(__package__, "calendar_of_zone")
# Of a calendar of all trades.
_EVER: dict[str, Any] = {
    "since": "-infinity",
    "newest": "infinity",
    "first_day": "-infinity",
    "end_day": "infinity",
    "starts": [],
    "ends": [],
    "cut_months": [],
}
_IS_ZONE = "SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = %(timezone)s)"


def wallet_calendar(
    connection: Connection, wallet: Wallet, now: datetime, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a wallet traded and realized on each of its days in a zone, and in each month until `now`.

    With `window` only its trades, and the months until its end. Without `dates`, the months alone. Raises
    WalletNotFound, InvalidParameter.
    """
    timezone, window = given["timezone"], given.get("window")
    if timezone != "UTC" and not connection.fetch_value(_IS_ZONE, {"timezone": timezone}):
        raise InvalidParameter(
            f"Parameter timezone is {timezone[:40]!r}, which is no time zone of the IANA database, such as"
            " Europe/Berlin.",
            parameter="timezone",
        )
    now = now.replace(microsecond=0)
    parameters = {
        **wallet.parameters,
        "now": now,
        "until": now,
        "timezone": timezone,
        **_EVER,
    }
    bounds: dict[str, str] = {}
    if window is not None:
        span = span_of_wallet(connection, now, wallet.wallet_id, window)
        parameters |= _parts(span)
        bounds = span.bounds
    statement = _OF_UTC if timezone == "UTC" else _OF_ZONE
    head, [months, days] = connection.fetch_lists(statement, parameters, wallet.removed)
    days_of = rows_by(days, "starts_on")
    days_of_months: list[Any] = [days_of.get(month, []) for month in months["starts_on"]]
    last = {name.removeprefix("month_"): values[-1] for name, values in months.items() if values}
    data = {**head, **bounds, "wallet": wallet.address, "months": months, "month": last}
    if not given.get("dates", True):
        return data
    return data | {
        "months": {**months, "dates": days_of_months},
        "dates": days_of_months[-1] if days_of_months else [],
    }


def _parts(span: TimeSpan) -> dict[str, Any]:
    """Return the parameters of a window: its days, the parts beside them, and the months that it cuts."""
    months = {_month(moment) for moment in (span.begins_at, span.until)}
    bounds = {"since": span.since, "newest": span.until, "until": span.until, "cut_months": sorted(months)}
    return {**cut_period(span.since, span.until), **bounds}


def _month(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)
