"""What a command works with: the settings of the environment, and a database, embedded if need be."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from wallet_api import embedded, migrations
from wallet_api.database import Connection, connect, translated
from wallet_api.settings import Settings


@contextmanager
def settings_with_database(*, migrate: bool = True) -> Iterator[Settings]:
    """Yield the settings; an unset `database_url` becomes that of an embedded server.

    With `migrate`, the tables of an embedded server are brought up to date. Raises SettingsError,
    EmbeddedError, DatabaseUnavailable, SchemaError.
    """
    own = Settings.from_environment()
    with embedded.running(own, valkey=False) as settings:
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


def require_tables(connection: Connection) -> None:
    """Raise ClickException or SchemaError, saying what to do, unless the tables are those of this version."""
    schema = migrations.inspect(connection)
    schema.check()
    if schema.pending:
        raise click.ClickException("The tables are not up to date: run 'wallet-api migrate' first.")
