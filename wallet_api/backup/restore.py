"""Restore a dump: checks that change nothing, then one transaction that replaces the tables."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from subprocess import PIPE
from typing import IO

from psycopg.sql import SQL, Identifier, Literal

from wallet_api import migrations
from wallet_api.backup.access import Access, access_of
from wallet_api.backup.archive import read_archive
from wallet_api.backup.database import (
    Contents,
    check_sessions,
    check_target,
    contents_of,
    count_rows,
    has_rows,
    server_major,
)
from wallet_api.backup.errors import BackupError
from wallet_api.backup.processes import Process, running
from wallet_api.backup.programs import Programs, newest_for
from wallet_api.backup.schema import SCHEMA
from wallet_api.database import Connection, load_sql

# Called with the bytes read from the file, and of how many.
Progress = Callable[[int, int], None]

_CLEAR = load_sql(__package__, "clear")
_UNCHANGED = "Nothing was restored, and the database is unchanged"
# https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-EXIT-STATUS
_SQL_ERROR = 3
_LOCK_SECONDS = 10
_CHUNK_BYTES = 1024 * 1024
# pg_restore writes its SET statements before the first object.
_HEAD_BYTES = 16 * 1024
_HEAD_END = b"\nSET row_security = off;\n"
# Servers before 17 reject it: https://www.postgresql.org/docs/17/runtime-config-client.html
_TRANSACTION_TIMEOUT = b"\nSET transaction_timeout = 0;\n"
_FIRST_WITH_TRANSACTION_TIMEOUT = 17

_BEGIN = SQL(
    "BEGIN;\n"
    "SET LOCAL lock_timeout = {lock_timeout};\n"
    "SET LOCAL statement_timeout = 0;\n"
    "SELECT pg_catalog.set_config('search_path', '', TRUE),"
    " pg_catalog.set_config('wallet_api.restore', {task}, TRUE);\n"
)


@dataclass(frozen=True)
class Restored:
    """A finished restore: its rows by kind, and the migrations that were applied to them."""

    rows: dict[str, int]
    migrated: list[str]


def restore(
    connection: Connection, url: str, name: Path, *, replace: bool, progress: Progress | None = None
) -> list[str]:
    """Replace the tables in the database of `connection`, whose URL is `url`, with those of the dump `name`.

    Nothing changes before all of the dump was read and accepted. Without `replace` the database must contain
    no rows. Return the names in the dump that do not belong to this service and were left out. Raises
    BackupError.
    """
    with _opened(name) as file:
        major = server_major(connection)
        programs = newest_for(major, tls=connection.pgconn.ssl_in_use)
        archive = read_archive(file, name, programs)
        if archive.server_major > major:
            raise BackupError(
                f"{name} is a backup of PostgreSQL {archive.server_major}, but this server is PostgreSQL "
                f"{major}. Restore it to PostgreSQL {archive.server_major} or newer."
            )
        # Do not wait longer for sessions that hold locks.
        connection.execute(SQL("SET lock_timeout = {}").format(Literal(f"{_LOCK_SECONDS}s")))
        contents = contents_of(connection)
        check_target(connection, contents)
        check_sessions(connection)
        if not replace and has_rows(connection, contents):
            raise BackupError(
                f"The database {connection.info.dbname} contains data. Add --replace to delete it and "
                f"restore {name}."
            )
        access = access_of(url, connection, "wallet-api restore")
        begin = _begin(connection, contents, replace=replace)
        with tempfile.NamedTemporaryFile("w", prefix="wallet-api-restore-") as listing:
            listing.write(archive.wanted)
            listing.flush()
            _pour(file, Path(listing.name), programs, access, major, begin, progress)
        connection.execute("RESET lock_timeout")
    return archive.left_out


def complete(connection: Connection) -> Restored:
    """Upgrade restored tables, and collect statistics for the query planner."""
    migrated = migrations.migrate(connection)
    tables = [Identifier(SCHEMA, row["name"]) for row in contents_of(connection).tables]
    connection.execute(SQL("ANALYZE {}").format(SQL(", ").join(tables)))
    return Restored(count_rows(connection), migrated)


def _opened(name: Path) -> IO[bytes]:
    try:
        # pg_restore reads the same open file, so its position shows the progress.
        return name.open("rb", buffering=0)
    except OSError as error:
        raise BackupError(f"{name} cannot be read: {error.strerror}.") from error


def _begin(connection: Connection, contents: Contents, *, replace: bool) -> bytes:
    """Return the SQL that begins the transaction and drops all objects of this service under locks."""
    task = {
        "drops": [f"DROP {row['kind']} {row['identity']}" for row in contents.objects],
        "tables": [row["identity"] for row in contents.tables],
        "keep_rows_of": [] if replace else contents.data_tables,
        "own_pid": connection.info.backend_pid,
    }
    begin = _BEGIN.format(lock_timeout=Literal(f"{_LOCK_SECONDS}s"), task=Literal(json.dumps(task)))
    return f"{begin.as_string(connection)}{_CLEAR};\n".encode()


def _pour(
    file: IO[bytes],
    listing: Path,
    programs: Programs,
    access: Access,
    major: int,
    begin: bytes,
    progress: Progress | None,
) -> None:
    """Run the SQL of the dump in one transaction, and commit it only after pg_restore has succeeded.

    If its input ends before COMMIT, psql exits and the server rolls back.
    """
    to_sql = [
        programs.path("pg_restore"),
        *("--no-owner", "--no-privileges", "--no-comments", "--no-security-labels", "--no-tablespaces"),
        *(f"--use-list={listing}", "--file=-"),
    ]
    run_sql = [
        programs.path("psql"),
        *("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--set=VERBOSITY=terse"),
        *("--set=SHOW_CONTEXT=never", f"--dbname={access.conninfo}"),
    ]
    size_bytes = file.seek(0, SEEK_END)
    file.seek(0)
    with (
        running(to_sql, access.environment, stdin=file, stdout=PIPE) as source,
        running(run_sql, access.environment, stdin=PIPE) as target,
    ):
        try:
            target.write(begin)
            for chunk in _sql(source, major):
                target.write(chunk)
                if progress is not None:
                    progress(file.tell(), size_bytes)
        except BrokenPipeError:
            target.process.wait()
            raise BackupError(f"{_UNCHANGED}: {target.error}.") from None
        if source.process.wait() != 0:
            raise BackupError(f"{_UNCHANGED}: pg_restore failed: {source.error}.")
        with suppress(BrokenPipeError):
            target.write(b"COMMIT;\n")
        target.close_input()
        status = target.process.wait()
        if status == _SQL_ERROR:
            raise BackupError(f"{_UNCHANGED}: {target.error}.")
        if status != 0:
            raise BackupError(
                f"psql was interrupted during COMMIT: {target.error}. The restore may be complete or not. "
                "Run the same command again with --replace."
            )


def _sql(source: Process, major: int) -> Iterator[bytes]:
    """Yield the output of pg_restore, without settings that a server of this version rejects."""
    output = source.process.stdout
    assert output is not None
    head = b""
    while _HEAD_END not in head and len(head) < _HEAD_BYTES and (chunk := output.read(_CHUNK_BYTES)):
        head += chunk
    if major < _FIRST_WITH_TRANSACTION_TIMEOUT:
        head = head.replace(_TRANSACTION_TIMEOUT, b"\n", 1)
    yield head
    while chunk := output.read(_CHUNK_BYTES):
        yield chunk
