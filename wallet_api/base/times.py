"""Times as callers and operators write them, and as they are shown."""

import re
from datetime import UTC, datetime, timedelta

# From which steps of time are counted, and weeks.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# fromisoformat() alone reads some Unix times in milliseconds as a day of the 18th century.
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?")
_STAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)"
    r" ?([Zz]|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?( UTC)?"
)
_SPAN = re.compile(r"([0-9]{1,6})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


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


def shown_time(moment: datetime) -> str:
    """Return a time as it is shown: UTC, ISO 8601 with Z, whole seconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def exact_time(moment: datetime) -> str:
    """Return a time as it is shown, with its microseconds where it has them."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_stamp(text: str) -> datetime:
    """Return a time as other tools write it: ISO 8601 with any offset, or UTC by its name; seconds may lack.

    Such as 2026-01-30T12:51:16+01, 2026-01-30 12:51 UTC, and 2026-01-30 12:51:16 +0000 UTC, as Go writes it.
    Without an offset it is UTC. Raises ValueError.
    """
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    moment, offset, utc = found.groups()
    time = datetime.fromisoformat(
        f"{moment}{offset}" if offset and offset not in ("UTC", "z") else f"{moment}Z"
    )
    if utc and time.utcoffset():
        raise ValueError(text)
    return time


def read_span(text: str) -> timedelta | None:
    """Return a length of time such as 30d, 12h or 45m; None if the text is none."""
    found = _SPAN.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def next_month(moment: datetime) -> datetime:
    """Return when the month of UTC after that of a time begins."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)
