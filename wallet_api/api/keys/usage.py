"""What an operator watches of keys: their use, and which expire."""

from datetime import UTC, date, datetime, timedelta

from wallet_api.api.keys import find
from wallet_api.database import Connection, Row, load_statements

_USAGE = load_statements(__package__, "usage")

# A key that expires within this time is warned of.
EXPIRES_SOON = timedelta(days=14)


def list_keys(connection: Connection) -> list[Row]:
    """Return all keys by name: credits (None means unlimited), rate, times in UTC, and their use."""
    return connection.execute(_USAGE["list"], {"today": datetime.now(UTC).date()}).fetchall()


def read_usage(
    connection: Connection, since: date, name: str | None = None, until: date = date.max
) -> list[Row]:
    """Return requests and credits by key, day of UTC and operation, of one name or of all, before `until`.

    Raises KeyRequestError if no key has the name.
    """
    if name is not None:
        find(connection, name)
    return connection.execute(_USAGE["usage"], {"since": since, "until": until, "name": name}).fetchall()


def count_expiring(connection: Connection, now: datetime) -> int:
    """Return how many keys expire within EXPIRES_SOON."""
    count: int = connection.fetch_value(_USAGE["count_expiring"], {"now": now, "until": now + EXPIRES_SOON})
    return count


def count_short(connection: Connection, now: datetime, cost: int) -> Row:
    """Return how many valid keys are `empty`, with less than `cost`, or `low`: less than a week takes."""
    return connection.fetch_row(_USAGE["count_short"], {"now": now, "cost": cost})
