"""Restore all tables from a dump, in one transaction."""

import re
import subprocess
from importlib import resources
from pathlib import Path

from psycopg.sql import SQL, Identifier

from wallet_api import migrations
from wallet_api.backup.programs import BackupError, Note, installed, plain_environment, program, run
from wallet_api.database import Connection, load_sql

_LIST_SESSIONS = load_sql(__package__, "list_sessions")
_LIST_TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
_SERVER = re.compile(r"^; +Dumped from database version: (\d+)", re.MULTILINE)
_ROWS = re.compile(r"^COPY \S+ \((.+)\) FROM stdin;\n((?:.*\n)+?)\\\.$", re.MULTILINE)
_TABLE_ROWS = re.compile(r"^[\d; ]+ TABLE DATA public (\w+) ", re.MULTILINE)
_CREATED_TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
_DROPPED_TABLE = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)
_MIGRATIONS = "schema_migrations"
# A new database has rows of them.
_ALWAYS_FILLED = {_MIGRATIONS, "cursor_secret"}
_OPTIONS = (
    *("--single-transaction", "--clean", "--if-exists", "--schema=public", "--no-owner", "--no-privileges"),
    *("--no-comments", "--no-security-labels", "--no-tablespaces"),
)


def restore(connection: Connection, url: str, file: Path, *, replace: bool, progress: Note) -> list[str]:
    """Replace the tables by those of the dump `file`, and return the migrations that were applied to them.

    `url` is that of `connection`. Without `replace` the database must contain no rows.
    """
    pg_restore = program("pg_restore", connection)
    server = connection.info.server_version // 10_000
    dumped_server, names = _read(file)
    if dumped_server > server:
        raise BackupError(
            f"{file} is a backup of PostgreSQL {dumped_server}, but this server is PostgreSQL {server}. "
            f"Restore it to PostgreSQL {dumped_server} or newer."
        )
    _check_target(connection, file, names, replace=replace)
    try:
        run(pg_restore, url, [*_OPTIONS, str(file.absolute())], progress)
    except BackupError as error:
        is_other_role = "must be owner" in str(error) or "permission denied" in str(error)
        hint = " Restore as wallet_api_owner, a role of roles.sql." if is_other_role else ""
        raise BackupError(f"Nothing was restored, and the database is unchanged: {error}.{hint}") from error
    migrated = migrations.migrate(connection)
    # The query planner needs statistics.
    connection.execute("ANALYZE")
    return migrated


def _read(file: Path) -> tuple[int, set[str]]:
    """Return the major version of the server of the dump `file`, and the migrations of its tables.

    Raises BackupError unless it is a complete dump that this version can use.
    """
    listing = _pg_restore(file, "--list")
    table = ("--data-only", "--schema=public", "--table=schema_migrations", "--file=-")
    rows, server = _ROWS.search(_pg_restore(file, *table)), _SERVER.search(listing)
    if rows is None or server is None:
        raise BackupError(f"{file} is not a backup of this service: it has no rows of schema_migrations.")
    columns = rows[1].split(", ")
    applied = [dict(zip(columns, row.split("\t"), strict=True)) for row in rows[2].splitlines()]
    try:
        migrations.compare({row["name"]: row.get("checksum") for row in applied}).check()
    except migrations.SchemaError as error:
        raise BackupError(f"{file} cannot be restored. {error}") from error
    names = {row["name"] for row in applied}
    files = [resources.files(migrations).joinpath(f"{name}.sql") for name in names]
    sql = "\n".join(file.read_text(encoding="utf-8") for file in files)
    tables = {*_CREATED_TABLE.findall(sql)} - {*_DROPPED_TABLE.findall(sql)}
    if missing := tables - set(_TABLE_ROWS.findall(listing)):
        raise BackupError(
            f"{file} is not a complete backup: the rows of the table {min(missing)} are missing."
        )
    return int(server[1]), names


def _pg_restore(file: Path, *arguments: str) -> str:
    found = installed()
    command = [str(found[max(found)] / "pg_restore"), *arguments, str(file.absolute())]
    ended = subprocess.run(command, capture_output=True, env=plain_environment(), check=False)
    if ended.returncode:
        reason = ended.stderr.decode(errors="replace").strip().partition("\n")[0]
        if "unsupported version" in reason:
            reason += ". A newer PostgreSQL made it; 'export' and 'import' move data to an older one"
        raise BackupError(f"{file} cannot be read with pg_restore {max(found)}: {reason}")
    return ended.stdout.decode(errors="replace")


def _check_target(connection: Connection, file: Path, names: set[str], *, replace: bool) -> None:
    database = connection.info.dbname
    if sessions := connection.execute(_LIST_SESSIONS).fetchall():
        raise BackupError(
            f"The database is in use by {', '.join(row['session'] for row in sessions)}. Stop it first (the "
            "service, 'wallet-api up', a sync, an import), then restore."
        )
    tables = {row["name"] for row in connection.execute(_LIST_TABLES)}
    applied = {row["name"] for row in _rows(connection, _MIGRATIONS)} if _MIGRATIONS in tables else set()
    # pg_restore drops what the dump contains, so that has to be all that is here.
    if applied and applied != names:
        raise BackupError(
            f"The tables in the database {database} are of another version than those of {file}. "
            "Restore into a new database (DATABASE_URL) or a new folder (WALLET_API_HOME)."
        )
    if not replace and any(_rows(connection, name, 1) for name in tables - _ALWAYS_FILLED):
        raise BackupError(
            f"The database {database} contains data. Add --replace to delete it and restore {file}."
        )


def _rows(connection: Connection, table: str, limit: int | None = None) -> list[dict[str, object]]:
    query = SQL("SELECT * FROM {} LIMIT {}").format(Identifier("public", table), limit)
    return connection.execute(query).fetchall()
