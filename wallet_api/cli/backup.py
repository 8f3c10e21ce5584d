"""`wallet-api backup FILE` and `wallet-api restore FILE`: the database in use, to a file and back."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import orjson

from wallet_api import backup as backups
from wallet_api.cli.environment import settings_with_database
from wallet_api.cli.showcase import forget_demo
from wallet_api.database import Connection, connect, load_sql, translated
from wallet_api.embedded import home_of
from wallet_api.settings import Settings

_TRACKED_DIGEST = load_sql("wallet_api.cli", "tracked_digest")
_TRACKED_TABLE = "SELECT to_regclass('public.wallets') IS NOT NULL AS found"
_MEGABYTE = 1_000_000

_file = click.argument("file", type=click.Path(path_type=Path))
_json = click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")


@click.command()
@_file
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@_json
def backup(file: Path, force: bool, as_json: bool) -> None:
    """Write all data to FILE. The service may keep running.

    FILE has pg_dump's custom format and contains wallets, trades, prices, snapshots of balances, and keys
    with their credits. It is created only when the backup is complete. 'wallet-api restore FILE' restores it,
    here or on another server.
    """
    started = time.monotonic()
    own = Settings.from_environment()
    home = home_of(own)
    if own.database_url is None and not (home / "postgres" / "PG_VERSION").exists():
        raise click.ClickException(
            f"There is no database in {home}. Set WALLET_API_HOME to the folder of the embedded server, "
            "or DATABASE_URL."
        )
    with _database() as (settings, connection), _writing_bar() as progress:
        done = backups.back_up(
            connection, str(settings.database_url), file, overwrite=force, progress=progress
        )
    seconds = time.monotonic() - started
    if as_json:
        _print_json(
            {"file": str(file), "bytes": done.size_bytes, "seconds": round(seconds, 3)}
            | {"database": done.database, "server": done.server_major}
            | done.rows
            | {"left_out": done.left_out}
        )
        return
    click.echo(f"Backed up {_in_words(done.rows)} to {file}: {_size(done.size_bytes)} in {seconds:.1f} s.")
    _say_left_out(done.left_out)


@click.command()
@_file
@click.option("--replace", is_flag=True, help="Replace the data that is in the database.")
@_json
def restore(file: Path, replace: bool, as_json: bool) -> None:
    """Restore all data from FILE.

    FILE comes from 'wallet-api backup' or 'pg_dump --format=custom'. All of its data is restored, or none.
    Stop the service first. The server needs the PostgreSQL version of the backup or a newer one. Without
    --replace a database that contains data is not changed. Tables of an older version of this service are
    upgraded.
    """
    own = Settings.from_environment()
    started = time.monotonic()
    with _database() as (settings, connection):
        tracked_before = _tracked(connection)
        with _reading_bar(file) as progress:
            left_out = backups.restore(
                connection, str(settings.database_url), file, replace=replace, progress=progress
            )
        try:
            done = backups.complete(connection)
        except BaseException:
            click.echo(
                f"The data of {file} was restored, but its tables are not upgraded yet: run "
                "'wallet-api migrate'.",
                err=True,
            )
            raise
        if own.database_url is None and _tracked(connection) != tracked_before:
            forget_demo(home_of(own))
    seconds = time.monotonic() - started
    if as_json:
        _print_json(
            {"file": str(file), "seconds": round(seconds, 3), "migrated": done.migrated}
            | done.rows
            | {"left_out": left_out}
        )
    else:
        click.echo(f"Restored {_in_words(done.rows)} in {seconds:.1f} s.")
        if done.migrated:
            click.echo(f"Upgraded the tables: {', '.join(done.migrated)}.")
        _say_left_out(left_out)
    if own.database_url is not None:
        click.echo(
            "If you use the roles of config/roles.sql, run that file now: grants are not restored.", err=True
        )


@contextmanager
def _database() -> Iterator[tuple[Settings, Connection]]:
    """Yield the settings and a connection. The tables of an embedded server are not upgraded."""
    try:
        with (
            settings_with_database(migrate=False) as settings,
            translated(),
            connect(str(settings.database_url)) as connection,
        ):
            yield settings, connection
    except backups.BackupError as error:
        raise click.ClickException(str(error)) from error


def _tracked(connection: Connection) -> str | None:
    """Return a digest of the tracked wallets, or None without tables."""
    found = connection.execute(_TRACKED_TABLE).fetchone()
    if not found or not found["found"]:
        return None
    row = connection.execute(_TRACKED_DIGEST).fetchone()
    return row["digest"] if row else None


@contextmanager
def _writing_bar() -> Iterator[Callable[[int, int, int], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(
        length=100, label="Backing up", file=sys.stderr, item_show_func=lambda written: written
    ) as bar:

        def show(read: int, of: int, written: int) -> None:
            bar.update(max(0, 100 * read // max(of, 1) - bar.pos), _size(written))

        yield show
        bar.update(100 - bar.pos)


@contextmanager
def _reading_bar(file: Path) -> Iterator[Callable[[int], None] | None]:
    if not sys.stderr.isatty() or not file.is_file():
        yield None
        return
    size = file.stat().st_size
    with click.progressbar(length=size, label="Restoring", file=sys.stderr) as bar:
        yield lambda position: bar.update(max(0, position - bar.pos))
        bar.update(size - bar.pos)


def _in_words(rows: Mapping[str, int]) -> str:
    wallets, trades, keys = (
        f"{count:,} {kind if count != 1 else kind.removesuffix('s')}" for kind, count in rows.items()
    )
    return f"{wallets}, {trades} and {keys}"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / _MEGABYTE:,.1f} MB"


def _say_left_out(names: list[str]) -> None:
    if names:
        click.echo(f"Left out, since it does not belong to this service: {', '.join(names)}.", err=True)


def _print_json(document: dict[str, Any]) -> None:
    click.echo(orjson.dumps(document))
