"""Restore the rows of a dump into tables of this service's own migrations, in one transaction."""

import re
import subprocess
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from wallet_api.database import Connection, load_sql, migrations
from wallet_api.ledger.upgrade import Upgrade, upgrade
from wallet_api.operate.backup.loading import load_dump, reason_of
from wallet_api.operate.backup.programs import BackupError, Note, newest, plain_environment

_LIST_SESSIONS = load_sql(__package__, "list_sessions")
_LIST_TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
_ROWS = re.compile(r"^COPY \S+ \((.+)\) FROM stdin;\n((?:.*\n)+?)\\\.$", re.MULTILINE)
_MIGRATIONS = "schema_migrations"
# A new database has rows of them.
_ALWAYS_FILLED = {_MIGRATIONS, "cursor_secret", "wallet_fill"}
_NO_TIMEOUTS = """
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0
"""


def restore_ledger(connection: Connection, file: Path, *, replace: bool, progress: Note) -> Upgrade:
    """Replace the rows of all tables by those of a dump, and return what was upgraded.

    The migrations of its version make the tables. Functions, indexes, triggers and rights of the dump are not
    run. Without `replace` the database must contain no rows.
    """
    listing, names = _pg_restore(file, "--list"), _migrations_of(file)
    _check_target(connection, file, names, replace=replace)
    try:
        with connection.transaction():
            migrations.migrate(connection, names=names)
            connection.execute(_NO_TIMEOUTS)
            load_dump(connection, file, listing, progress)
            restored = {row["name"] for row in _rows(connection, _MIGRATIONS)}
            if restored != names:
                raise BackupError("its migrations cannot be read twice alike")
    except (BackupError, psycopg.Error) as error:
        reason = reason_of(error) if isinstance(error, psycopg.Error) else str(error)
        is_other_role = isinstance(error, psycopg.errors.InsufficientPrivilege)
        hint = " Restore as wallet_api_owner, a role of roles.sql." if is_other_role else ""
        raise BackupError(
            f"Nothing was restored of {file}, and the database is unchanged: {reason}.{hint}"
        ) from error
    done = upgrade(
        connection,
        lambda name: progress(f"applying {name}"),
        lambda number, of: progress(f"computing the figures of wallet {number:,} of {of:,}"),
    )
    # The query planner needs statistics.
    connection.execute("ANALYZE")
    return done


def _migrations_of(file: Path) -> set[str]:
    """Return the migrations of the tables of a dump. Raises BackupError unless this version can use it."""
    table = ("--data-only", "--schema=public", "--table=schema_migrations", "--file=-")
    rows = _ROWS.search(_pg_restore(file, *table))
    if rows is None:
        raise BackupError(f"{file} is not a backup of this service: it has no rows of schema_migrations.")
    columns = rows[1].split(", ")
    applied = [dict(zip(columns, row.split("\t"), strict=True)) for row in rows[2].splitlines()]
    try:
        migrations.compare({row["name"]: row.get("checksum") for row in applied}).check()
    except migrations.SchemaError as error:
        raise BackupError(f"{file} cannot be restored. {error}") from error
    return {row["name"] for row in applied}


def _pg_restore(file: Path, *arguments: str) -> str:
    command = [str(newest("pg_restore")), *arguments, str(file.absolute())]
    ended = subprocess.run(command, capture_output=True, env=plain_environment(), check=False)
    if ended.returncode:
        reason = ended.stderr.decode(errors="replace").strip().partition("\n")[0]
        if "unsupported version" in reason:
            reason += ". A newer PostgreSQL made it; 'export' and 'import' move data to an older one"
        raise BackupError(
            f"{file} cannot be read with pg_restore (of {newest('pg_restore').parent}): {reason}"
        )
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
    # Tables are filled, and not made anew, so that what others built on them stays.
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
