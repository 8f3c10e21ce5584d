"""The settings and the database of a command."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import click

from wallet_api.database import Connection, connect, location_of, migrations, translated
from wallet_api.ledger.upgrade import Upgrade, upgrade
from wallet_api.operate import embedded
from wallet_api.operate.cli.output import Show, progress_bar, typed
from wallet_api.settings import Settings

# Standard output stays readable for programs.
_to_stderr = partial(click.echo, err=True)


@contextmanager
def settings_with_database(
    *, migrate: bool = True, creates: bool = False, notify: Callable[[str], None] = _to_stderr
) -> Iterator[Settings]:
    """Yield the settings. Without `database_url`, run the embedded server and set its URL.

    `notify` receives the name of the database, and a second line if it was just created, which only a command
    that `creates` one does. With `migrate`, the tables of an embedded server are upgraded. Raises
    ClickException, SettingsError, EmbeddedError, DatabaseUnavailable, SchemaError.
    """
    configured = Settings.from_environment()
    home = embedded.home_of(configured)
    is_new = configured.database_url is None and not (home / "postgres" / "PG_VERSION").exists()
    if is_new and not creates:
        raise click.ClickException(
            f"There is no database in {home}. Set WALLET_API_HOME to its folder, run the command in the"
            " folder that contains it, or set DATABASE_URL."
            f" '{typed('up')}' creates one."
        )
    notify(f"Database: {database_of(configured)}")
    with embedded.running(configured) as settings:
        if is_new:
            notify(f"Created an empty database in {home}. Check WALLET_API_HOME if you expected data.")
        if configured.database_url is None and migrate:
            with connect(str(settings.database_url)) as connection:
                upgrade_tables(connection, notify)
        yield settings


def upgrade_tables(
    connection: Connection, notify: Callable[[str], None], progress: Callable[[str], None] = lambda name: None
) -> Upgrade:
    """Upgrade the tables as upgrade(), say what that does, and show how far it is."""
    with ExitStack() as stack:
        bars: list[Show] = []

        def show(done: int, of: int) -> None:
            if not bars:
                notify(f"Computing the figures that this version adds, of {of:,} wallets …")
                bars.append(stack.enter_context(progress_bar("Computing")))
            bars[0](done, of)

        done = upgrade(connection, progress, show)
    if done.respelled:
        notify(respelled_note(done))
    return done


def respelled_note(done: Upgrade) -> str:
    """Return what an upgrade did to the hashes of trades."""
    return (
        f"Wrote the hashes of {done.respelled:,} trades in one form; {done.merged:,} of these were there"
        " already, in another spelling."
    )


@contextmanager
def database(*, migrate: bool = True, creates: bool = False) -> Iterator[Connection]:
    """Yield a connection in autocommit. Without `creates`, there must be an embedded server already.

    With `migrate`, its tables are those of this version: upgraded on an embedded server, else checked. Raises
    ClickException and the errors of settings_with_database.
    """
    with (
        settings_with_database(migrate=migrate, creates=creates) as settings,
        translated(),
        connect(str(settings.database_url)) as connection,
    ):
        if migrate:
            require_tables(connection)
        yield connection


def database_of(settings: Settings) -> str:
    """Return a description of the database, without its password. Raises SettingsError."""
    if settings.database_url is None:
        return f"embedded PostgreSQL in {embedded.home_of(settings)}"
    return location_of(settings.database_url)


def require_tables(connection: Connection) -> None:
    """Raise ClickException or SchemaError unless the tables are those of this version."""
    schema = migrations.inspect(connection)
    schema.check()
    if schema.pending:
        raise click.ClickException(f"The tables are not up to date: run '{typed('migrate')}' first.")
