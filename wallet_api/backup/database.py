"""The objects of this service in the database in use, and the sessions of others."""

from dataclasses import dataclass

from psycopg.sql import SQL, Identifier

from wallet_api import migrations
from wallet_api.backup.errors import BackupError
from wallet_api.backup.schema import MIGRATIONS_TABLE, SCHEMA, names
from wallet_api.database import Connection, Row, load_sql

_COUNT_ROWS = load_sql(__package__, "count_rows")
_LIST_OBJECTS = load_sql(__package__, "list_objects")
_LIST_SESSIONS = load_sql(__package__, "list_sessions")
_READ_ROLE = load_sql(__package__, "read_role")


@dataclass(frozen=True)
class Contents:
    """The objects of this service in a database."""

    objects: list[Row]

    @property
    def tables(self) -> list[Row]:
        """The tables among them."""
        return [row for row in self.objects if row["kind"] == "TABLE"]

    @property
    def data_tables(self) -> list[str]:
        """The tables that are empty in a new database, qualified and quoted."""
        return [row["identity"] for row in self.tables if row["name"] != MIGRATIONS_TABLE]

    @property
    def has_tables(self) -> bool:
        """Whether migrations have been applied."""
        return any(row["name"] == MIGRATIONS_TABLE for row in self.tables)


def server_major(connection: Connection) -> int:
    """Return the major version of the server."""
    return connection.info.server_version // 10_000


def contents_of(connection: Connection) -> Contents:
    """Return the objects of this service in the database."""
    rows = connection.execute(_LIST_OBJECTS, {"schema": SCHEMA, "names": sorted(names())})
    return Contents(rows.fetchall())


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the numbers of wallets, trades and keys."""
    return dict(connection.execute(_COUNT_ROWS).fetchone() or {})


def has_rows(connection: Connection, contents: Contents) -> bool:
    """Return whether any table contains rows that a restore would replace."""
    tables = [row["name"] for row in contents.tables if row["name"] != MIGRATIONS_TABLE]
    selects = [SQL("(SELECT 1 FROM {} LIMIT 1)").format(Identifier(SCHEMA, name)) for name in tables]
    return bool(selects) and connection.execute(SQL(" UNION ALL ").join(selects)).fetchone() is not None


def check_sessions(connection: Connection) -> None:
    """Raise BackupError if a service or another command is connected to the database."""
    sessions = [
        f"{row['application_name']} ({row['sessions']})" for row in connection.execute(_LIST_SESSIONS)
    ]
    if sessions:
        raise BackupError(
            f"The database is in use by {', '.join(sessions)}. Stop it first (the service, 'wallet-api up', "
            "a sync, an import), then restore."
        )


def check_target(connection: Connection, contents: Contents) -> None:
    """Raise BackupError unless this role may replace the tables, and they are of no newer version."""
    role = connection.execute(_READ_ROLE, {"schema": SCHEMA}).fetchone() or {}
    foreign = [row["identity"] for row in contents.objects if not row["is_own"]]
    if foreign or not role["may_create"]:
        what = f"does not own {foreign[0]}" if foreign else f"may not create tables in the schema {SCHEMA}"
        raise BackupError(
            f"The role {role['role']} {what}. Restore as the owner of the tables: wallet_api_owner in "
            "config/roles.sql."
        )
    schema = migrations.inspect(connection)
    if schema.is_unreleased:
        raise BackupError(
            "The tables here are of a version before the first release. Restore into an empty database."
        )
    if schema.newer:
        raise BackupError(
            f"The tables here are of a newer version of this service ({', '.join(schema.newer)}). Restore "
            "into an empty database, or update this installation first."
        )
