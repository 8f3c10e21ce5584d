"""`wallet-api backup FILE` and `wallet-api restore FILE`: the database in use, to a file and back."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from wallet_api import backup as backups
from wallet_api.cli.environment import settings_with_database
from wallet_api.cli.output import is_shown, json_option, print_json, progress_bar
from wallet_api.cli.showcase import forget_demo
from wallet_api.database import Connection, connect, load_sql, translated
from wallet_api.embedded import home_of
from wallet_api.settings import Settings

_TRACKED_DIGEST = load_sql("wallet_api.cli", "tracked_digest")
_TRACKED_TABLE = "SELECT to_regclass('public.wallets') IS NOT NULL AS found"
_MEGABYTE = 1_000_000

_file = click.argument("file", type=click.Path(path_type=Path))


@click.command()
@_file
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option
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
    with _database() as (settings, connection), progress_bar("Backing up") as show:
        done = backups.back_up(
            connection,
            str(settings.database_url),
            file,
            overwrite=force,
            # To find out how much is read costs some queries.
            progress=(lambda read, of, written: show(read, of, _size(written))) if is_shown() else None,
        )
        show(1, 1)
    seconds = time.monotonic() - started
    if as_json:
        print_json(
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
@json_option
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
        with progress_bar("Restoring") as show:
            left_out = backups.restore(
                connection, str(settings.database_url), file, replace=replace, progress=show
            )
            show(1, 1)
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
        print_json(
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
    if not connection.fetch_value(_TRACKED_TABLE):
        return None
    digest: str = connection.fetch_value(_TRACKED_DIGEST)
    return digest


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
