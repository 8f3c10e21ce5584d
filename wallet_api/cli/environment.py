"""What a command works with: the settings of the environment, and a database, embedded if need be."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from wallet_api import embedded, migrations
from wallet_api.database import Connection, connect, place_of, translated
from wallet_api.settings import Settings

Notify = Callable[[Settings, str], None]


def write_note(settings: Settings, text: str) -> None:
    """Write a line for the operator to standard error, which leaves the output to programs."""
    click.echo(text, err=True)


@contextmanager
def settings_with_database(*, migrate: bool = True, notify: Notify = write_note) -> Iterator[Settings]:
    """Yield the settings; an unset `database_url` becomes that of an embedded server.

    `notify` receives which database this is, and whether it has just been made. With `migrate`, the tables of
    an embedded server are brought up to date. Raises SettingsError, EmbeddedError, DatabaseUnavailable,
    SchemaError.
    """
    own = Settings.from_environment()
    home = embedded.home_of(own)
    is_new = own.database_url is None and not (home / "postgres" / "PG_VERSION").exists()
    notify(own, f"Database: {database_of(own)}")
    with embedded.running(own, valkey=False) as settings:
        if is_new:
            notify(own, f"Made a new, empty database in {home}; is WALLET_API_HOME right?")
        if own.database_url is None and migrate:
            with connect(str(settings.database_url)) as connection:
                migrations.migrate(connection)
        yield settings


@contextmanager
def database(*, migrate: bool = True) -> Iterator[Connection]:
    """Yield a connection to the database of this command, in autocommit.

    Raises as settings_with_database does.
    """
    with (
        settings_with_database(migrate=migrate) as settings,
        translated(),
        connect(str(settings.database_url)) as connection,
    ):
        yield connection


def database_of(settings: Settings) -> str:
    """Return the database of the settings in words, without its password. Raises SettingsError."""
    if settings.database_url is None:
        return f"embedded PostgreSQL in {embedded.home_of(settings)}"
    return place_of(settings.database_url)


def require_tables(connection: Connection) -> None:
    """Raise ClickException or SchemaError, saying what to do, unless the tables are those of this version."""
    schema = migrations.inspect(connection)
    schema.check()
    if schema.pending:
        raise click.ClickException("The tables are not up to date: run 'wallet-api migrate' first.")
