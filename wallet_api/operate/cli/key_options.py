"""The options of keys that several commands have."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import click

from wallet_api.api.blueprints import operation_names
from wallet_api.api.keys import KeyOptions
from wallet_api.operate.cli.options import all_of, moment

# Of more the service has no use.
_MAX_DIGITS = 18
# By option: the word for the default.
_NOTHING: Mapping[str, str] = {
    "credits": "unlimited",
    "monthly": "none",
    "rate": "default",
    "expires_at": "never",
    "chains": "any",
    "types": "any",
    "operations": "any",
}

_Callback = Callable[[click.Context, click.Parameter, Any], Any]


def _number_or(word: str) -> _Callback:
    def read(context: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
        if text is None or text == word:
            return text
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            problem = f"{text[:40]!r} is neither a whole number nor {word}."
            raise click.BadParameter(problem, context, option)
        return int(text)

    return read


def _moment_or_never(
    context: click.Context, option: click.Parameter, text: str | None
) -> datetime | str | None:
    return text if text == "never" else moment(context, option, text)


def _operations(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> Sequence[str]:
    unknown = [name for name in names if name not in operation_names()]
    if unknown and names != ("any",):
        known = ", ".join(operation_names())
        problem = f"{unknown[0][:40]!r} is no operation; they are {known}, or any alone."
        raise click.BadParameter(problem, context, option)
    return names


key_options = all_of(
    click.option(
        "--credits", metavar="N|unlimited", callback=_number_or("unlimited"), help="The balance, or no limit."
    ),
    click.option(
        "--monthly", metavar="N|none", callback=_number_or("none"), help="The balance of each month."
    ),
    click.option("--rate", help="Rate limit, such as 300/minute, or default for DEFAULT_RATE."),
    click.option(
        "--expires",
        "expires_at",
        metavar="DATE|never",
        callback=_moment_or_never,
        help="Day (UTC) or time of expiry.",
    ),
    click.option(
        "--chain",
        "chains",
        multiple=True,
        metavar="CHAIN|any",
        help="Bind the key to a chain. Can be repeated.",
    ),
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="TYPE|any",
        help="Bind the key to wallets of a type. Can be repeated.",
    ),
    click.option(
        "--operation",
        "operations",
        multiple=True,
        metavar="OPERATION|any",
        callback=_operations,
        help="Bind the key to an operation, by its operationId. Can be repeated.",
    ),
)


def given_options(values: Mapping[str, Any]) -> KeyOptions:
    """Return the options that were given; None for one that is the word for its default."""
    given = {name: value for name, value in values.items() if value not in (None, (), [])}
    defaults = {name: (word, (word,), [word]) for name, word in _NOTHING.items()}
    return cast(
        KeyOptions, {name: None if value in defaults[name] else value for name, value in given.items()}
    )
