"""Options that several commands have."""

from datetime import UTC, datetime

import click


def moment(context: click.Context, option: click.Parameter, text: str | None) -> datetime | None:
    """Return the time of an option: a date is 00:00 of that day. Times without a zone are UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            f"{text!r} is not a date; write 2030-12-31, or 2030-12-31T18:00:00Z.", context, option
        ) from error
