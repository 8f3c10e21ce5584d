"""The options of keys, for commands and rows of files, and `wallet-api keys import`: many keys at once."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import click
import msgspec
import orjson
from msgspec import UNSET

from wallet_api.api.blueprints import operation_names
from wallet_api.api.keys import KeyOptions, KeyRequestError, create_key
from wallet_api.base.forms import BadRow, must_be
from wallet_api.database import Connection
from wallet_api.ledger.files.lines import Reject
from wallet_api.ledger.files.readers import Source, open_source
from wallet_api.ledger.files.rejects import rejects_of
from wallet_api.ledger.files.rows import good
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.options import all_of, moment
from wallet_api.operate.cli.output import end_if_rejected, json_option, print_json, warn

MOST = 10_000
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


class _NewKey(msgspec.Struct):
    """A row of a file of keys. Several chains, types or operations are a list, or words in a text."""

    name: str
    credits: Any = UNSET
    monthly: Any = UNSET
    rate: str | None = None
    expires: str | None = None
    chain: Any = UNSET
    type: Any = UNSET
    operation: Any = UNSET

    def options(self) -> KeyOptions:
        """Return what the key may do, by the options of `keys create`. An empty value is the default.

        Raises BadRow.
        """
        single = {name: getattr(self, name) for name in ("credits", "monthly", "rate", "expires")}
        arguments = [f"--{name}={value}" for name, value in single.items() if value not in (UNSET, None, "")]
        for name in ("chain", "type", "operation"):
            arguments += [f"--{name}={word}" for word in _words(name, getattr(self, name))]
        try:
            given = given_options(_key.make_context("keys", arguments).params)
        except click.BadParameter as fault:
            column = fault.param.opts[0].removeprefix("--") if fault.param else ""
            raise BadRow(f"{column}: {fault.message.removesuffix('.')}") from None
        return cast(KeyOptions, {name: value for name, value in given.items() if value is not None})


@click.command()
@key_options
def _key(**values: Any) -> None:
    """Read the options of a row; it is never run."""


@click.command("import")
@click.argument("file")
@click.option(
    "--output",
    metavar="FILE",
    help="The new file for the secrets, which must not exist. Default: FILE.secrets.ndjson.",
)
@json_option
def import_keys(file: str, output: str | None, as_json: bool) -> None:
    """Create the keys of FILE, and write their secrets to a new file that only you can read.

    FILE is CSV or NDJSON, with the columns name, and where they are needed credits, monthly, rate, expires,
    chain, type and operation. The new file has a line {"name": …, "key": …} for each key. All of them become
    valid at once. Rejected rows are written to FILE.rejects.ndjson; the exit status is then 3.
    """
    secrets = Path(output or f"{'stdin' if file == '-' else file}.secrets.ndjson")
    with open_source(file) as source, rejects_of(file) as rejects, database(creates=True) as connection:
        count = _import(connection, source, rejects.add, secrets)
    if as_json:
        where = {"secrets": str(secrets)} if count else {}
        left = {"rejects": str(rejects.path)} if rejects.count else {}
        print_json({"created": count, "rejected": rejects.count, **where, **left})
    else:
        click.echo(f"Created {count} keys; {rejects.count} rows rejected.")
        if count:
            click.echo(f"Their secrets, which cannot be shown again: {secrets}", err=True)
    end_if_rejected(rejects.count, rejects.path, as_json=as_json)


def _import(connection: Connection, source: Source, reject: Reject, secrets: Path) -> int:
    count = 0
    with _new_file(secrets) as file, connection.transaction():
        for number, line, found in source.records(_NewKey, warn):
            try:
                row = good(found)
                key = create_key(connection, row.name, **row.options())
            except (BadRow, KeyRequestError) as fault:
                reject(number, line, fault if isinstance(fault, BadRow) else BadRow(str(fault)))
                continue
            file.write(orjson.dumps({"name": row.name, "key": key}) + b"\n")
            count += 1
            if count > MOST:
                raise click.ClickException(f"{source.name} has more than {MOST:,} keys: divide it.")
        # Before the keys are valid: none of them may be lost.
        file.flush()
        os.fsync(file.fileno())
    if not count:
        secrets.unlink()
    return count


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that only its owner can read, and remove it if the block fails."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise click.ClickException(f"{path} exists: name another --output.") from None
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from error
    try:
        with os.fdopen(number, "wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _words(field: str, value: Any) -> list[str]:
    words = value.replace(",", " ").split() if isinstance(value, str) else value or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise must_be(field, "a text, or a list of texts", value)
    return words
