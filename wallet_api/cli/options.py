"""Options that several commands have."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

import click

from wallet_api.times import read_time

_SPAN = re.compile(r"(\d{1,6})([dhm])", re.ASCII)
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def all_of(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command these options, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def span(text: str) -> timedelta | None:
    """Return a time such as 30d, 12h or 45m; None if the text is none."""
    found = _SPAN.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def moment(context: click.Context, option: click.Parameter, text: str | None) -> datetime | None:
    """Return the time of an option, as read_time() does."""
    try:
        return None if text is None else read_time(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a date; write 2030-12-31, or 2030-12-31T18:00:00Z.", context, option
        ) from error


def _one_character(context: click.Context, option: click.Parameter, text: str) -> str:
    delimiter = "\t" if text in ("tab", "\\t") else text
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"_.-+:\r\n':
        raise click.BadParameter(
            f"{text!r} is not one character such as ';' or '|', or tab.", context, option
        )
    return delimiter


delimiter_option = click.option(
    "--delimiter",
    default=",",
    show_default=True,
    callback=_one_character,
    metavar="CHARACTER",
    help="What separates the columns of CSV: ';', '|', tab …",
)
