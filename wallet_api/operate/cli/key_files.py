"""`wallet-api keys import`: make many keys at once, and write their secrets to a file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import click
import msgspec
import orjson
from msgspec import UNSET

from wallet_api.api.keys import KeyOptions, create_key
from wallet_api.api.keys.bounds import KeyRequestError
from wallet_api.base.forms import BadRow, must_be
from wallet_api.database import Connection
from wallet_api.ledger.files.lines import Record, Reject
from wallet_api.ledger.files.readers import Source, open_source
from wallet_api.ledger.files.rejects import rejects_of
from wallet_api.ledger.files.rows import good
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.key_options import given_options, key_options
from wallet_api.operate.cli.output import end_if_rejected, json_option, print_json

MOST = 10_000


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
        for number, line, found in _warned(source):
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


def _warned(source: Source) -> Iterator[Record[_NewKey]]:
    return source.records(_NewKey, lambda text: click.echo(f"Warning: {text}", err=True))


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
