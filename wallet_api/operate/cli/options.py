"""Options that several commands have."""

from collections.abc import Callable
from datetime import datetime
from functools import partial, reduce, wraps
from typing import Any

import click
import msgspec

from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.base.coins import CURRENCIES
from wallet_api.base.times import read_time
from wallet_api.ledger.files.file_options import SAME, Given

_CHOICES = {"blockchain": tuple(CHAINS), "type": WALLET_TYPES, "currency": CURRENCIES}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def all_of(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command these options, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


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


def file_options(row_type: type[msgspec.Struct]) -> Decorator:
    """Return a decorator for how a file of these rows differs; the command gets `delimiter` and `given`."""
    fields = row_type.__struct_fields__
    same = [name for name in SAME if name in fields]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_given(*, columns: dict[str, str], rows: str | None, **options: Any) -> Any:
            values = {name: value for name in same if (value := options.pop(f"same_{name}"))}
            return command(given=Given(columns, values, rows), **options)

        return all_of(
            delimiter_option,
            click.option(
                "--column",
                "columns",
                multiple=True,
                metavar="NAME=OTHER",
                callback=partial(_columns, fields),
                help="Read NAME from the column that FILE calls OTHER. Can be repeated.",
            ),
            click.option(
                "--rows",
                metavar="NAME",
                help="The list to read in a document of JSON with several, such as data.items.",
            ),
            *(
                click.option(
                    f"--{name}",
                    f"same_{name}",
                    type=click.Choice(_CHOICES[name]),
                    help=f"The {name} of all rows, where FILE does not state it.",
                )
                for name in same
            ),
        )(with_given)

    return decorate


def _columns(
    fields: tuple[str, ...], context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in texts:
        name, _, other = (part.strip() for part in text.partition("="))
        if name not in fields:
            raise click.BadParameter(
                f"{name!r} is no column; the columns are {', '.join(fields)}.", context, option
            )
        if not other:
            raise click.BadParameter(f"{text!r} must be {name}=OTHER.", context, option)
        if name in columns or other in columns.values():
            raise click.BadParameter(f"{text!r} names a column twice.", context, option)
        columns[name] = other
    return columns
