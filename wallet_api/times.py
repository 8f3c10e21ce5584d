"""Times as callers and operators write them."""

import re
from datetime import UTC, datetime

# fromisoformat() alone reads some Unix times in milliseconds as a day of the 18th century.
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?")


def is_time(text: str) -> bool:
    """Return whether read_time() reads it."""
    try:
        read_time(text)
    except ValueError:
        return False
    return True


def read_time(text: str) -> datetime:
    """Return an ISO 8601 time in UTC: a day begins at 00:00, and without an offset it is UTC.

    Raises ValueError.
    """
    # fromisoformat() ignores what follows a NUL.
    if not _FORM.fullmatch(text) or "\0" in text:
        raise ValueError(text)
    time = datetime.fromisoformat(text)
    try:
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    # In UTC it is before the year 1 or after 9999.
    except OverflowError as error:
        raise ValueError(text) from error
