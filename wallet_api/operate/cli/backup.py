"""`wallet-api backup FILE` and `wallet-api restore FILE`: the database in use, to a file and back."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from wallet_api.database import Connection, connect, translated
from wallet_api.operate.backup.dump import back_up, count_rows
from wallet_api.operate.backup.programs import Note
from wallet_api.operate.backup.restore import restore_ledger
from wallet_api.operate.cli.environment import respelled_note, settings_with_database
from wallet_api.operate.cli.output import is_shown, json_option, print_json, typed
from wallet_api.settings import Settings

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
    with _connected("Backing up") as (connection, url, show):
        rows = back_up(connection, url, file, overwrite=force, progress=show)
    seconds, size_bytes = time.monotonic() - started, file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size_bytes, "seconds": round(seconds, 3)} | rows)
    else:
        click.echo(f"Backed up {_in_words(rows)} to {file}: {size_bytes / 1e6:,.1f} MB in {seconds:.1f} s.")


@click.command()
@_file
@click.option("--replace", is_flag=True, help="Replace the data that is in the database.")
@json_option
def restore_command(file: Path, replace: bool, as_json: bool) -> None:
    """Restore all data from FILE.

    FILE comes from 'wallet-api backup' or 'pg_dump --format=custom'. All of its rows are restored, or none,
    into tables of this service's own: nothing else of FILE is run, such as functions and rights. Its keys are
    valid here afterwards. Stop the service first. Without --replace a database that contains data is not
    changed. Tables of an older version of this service are upgraded.
    """
    started = time.monotonic()
    own = Settings.from_environment()
    with _connected("Restoring", creates=True) as (connection, _, show):
        upgrade = restore_ledger(connection, file, replace=replace, progress=show)
        rows = count_rows(connection)
    seconds = time.monotonic() - started
    if as_json:
        print_json({"file": str(file), "seconds": round(seconds, 3), "migrated": upgrade.applied} | rows)
    else:
        applied = ", ".join(upgrade.applied)
        upgraded = f" Upgraded the tables: {applied}." if applied else ""
        upgraded += f" {respelled_note(upgrade)}" if upgrade.respelled else ""
        click.echo(f"Restored {_in_words(rows)} in {seconds:.1f} s.{upgraded}")
    if own.database_url is not None:
        click.echo(
            f"If you use roles.sql ('{typed('config roles')}'), run it now: grants are not restored.",
            err=True,
        )


@contextmanager
def _connected(label: str, *, creates: bool = False) -> Iterator[tuple[Connection, str, Note]]:
    """Yield a connection, its URL, and a function that shows a message in one line of a terminal."""
    started = time.monotonic()

    def show(message: str) -> None:
        if is_shown():
            click.echo(f"\r{label}, {time.monotonic() - started:.0f} s: {message}\033[K", nl=False, err=True)

    try:
        # The tables of an embedded server are not upgraded.
        with settings_with_database(migrate=False, creates=creates) as settings, translated():
            url = str(settings.database_url)
            with connect(url) as connection:
                yield connection, url, show
    finally:
        if is_shown():
            click.echo("\r\033[K", nl=False, err=True)


def _in_words(rows: Mapping[str, int]) -> str:
    counts = (f"{count:,} {kind if count != 1 else kind.removesuffix('s')}" for kind, count in rows.items())
    return "{}, {} and {}".format(*counts)
