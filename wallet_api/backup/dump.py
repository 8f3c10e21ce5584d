"""Write all tables of this service, as one snapshot, to a file in pg_dump's custom format."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wallet_api.backup.access import access_of
from wallet_api.backup.database import Contents, contents_of, count_rows, server_major
from wallet_api.backup.errors import BackupError
from wallet_api.backup.files import written_whole
from wallet_api.backup.processes import Process, running
from wallet_api.backup.programs import oldest_for
from wallet_api.backup.schema import SCHEMA, names
from wallet_api.database import Connection, load_sql

# Called with the bytes of tables read so far, the bytes of all tables, and the bytes written.
Progress = Callable[[int, int, int], None]

_COPY_PROGRESS = load_sql(__package__, "copy_progress")
_LIST_OTHERS = load_sql(__package__, "list_others")
_TABLE_SIZES = load_sql(__package__, "table_sizes")
_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class Backup:
    """A finished backup: its size, its database and server, its rows by kind, and the names left out."""

    size_bytes: int
    database: str
    server_major: int
    rows: dict[str, int]
    left_out: list[str]


def back_up(
    connection: Connection, url: str, file: Path, *, overwrite: bool, progress: Progress | None = None
) -> Backup:
    """Write a backup of the database of `connection`, whose URL is `url`, to `file`.

    The service may keep running. Raises BackupError.
    """
    contents = contents_of(connection)
    _check_contents(connection, contents)
    programs = oldest_for(server_major(connection), tls=connection.pgconn.ssl_in_use)
    access = access_of(url, connection, "wallet-api backup")
    with written_whole(file, overwrite=overwrite) as (part, output), connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        rows = count_rows(connection)
        left_out = [
            row["name"]
            for row in connection.execute(_LIST_OTHERS, {"schema": SCHEMA, "names": sorted(names())})
        ]
        snapshot = connection.fetch_value("SELECT pg_export_snapshot()")
        command = [
            programs.path("pg_dump"),
            *("--format=custom", "--no-owner", "--no-privileges", "--no-password"),
            f"--schema={_pattern(SCHEMA)}",
            *(f"--exclude-table={_pattern(SCHEMA)}.{_pattern(name)}" for name in left_out),
            f"--snapshot={snapshot}",
            # On its standard output, opened for appending, pg_dump would write the list of contents twice.
            f"--file={part}",
            f"--dbname={access.conninfo}",
        ]
        # pg_dump inherits the lock: if this process is killed, no other backup starts before pg_dump exits.
        with running(command, access.environment, pass_fds=[output.fileno()]) as dump:
            _await(dump, connection, contents, output, progress)
            if dump.process.returncode:
                raise BackupError(f"pg_dump failed: {dump.error}")
        size_bytes = os.fstat(output.fileno()).st_size
    return Backup(size_bytes, connection.info.dbname, server_major(connection), rows, left_out)


def _check_contents(connection: Connection, contents: Contents) -> None:
    if not contents.has_tables:
        raise BackupError(
            f"The database {connection.info.dbname} contains no tables of this service. "
            "Check DATABASE_URL, or WALLET_API_HOME if that is not set."
        )
    for row in contents.tables:
        if not row["is_readable"]:
            raise BackupError(
                f"The role {connection.info.user} may not read {row['identity']}. "
                "Connect as wallet_api_reader or wallet_api_owner (config/roles.sql)."
            )


def _pattern(name: str) -> str:
    """Return a name quoted for pg_dump's options, without wildcards."""
    return '"' + name.replace('"', '""') + '"'


def _await(
    dump: Process, connection: Connection, contents: Contents, output: IO[bytes], progress: Progress | None
) -> None:
    if progress is None:
        dump.process.wait()
        return
    oids = {"oids": [row["oid"] for row in contents.tables]}
    sizes = {row["oid"]: row["size_bytes"] for row in connection.execute(_TABLE_SIZES, oids)}
    read = _bytes_read(connection, sizes)
    while True:
        try:
            dump.process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            progress(next(read), sum(sizes.values()), os.fstat(output.fileno()).st_size)
        else:
            return


def _bytes_read(connection: Connection, sizes: dict[int, int]) -> Iterator[int]:
    """Yield the bytes of tables read so far. A table counts once it was seen in progress."""
    seen: dict[int, int] = {}
    while True:
        # Within a transaction, PostgreSQL caches the views of activity.
        connection.execute("SELECT pg_stat_clear_snapshot()")
        current = {row["oid"]: row["bytes_processed"] for row in connection.execute(_COPY_PROGRESS)}
        for oid, size in sizes.items():
            if oid in current:
                seen[oid] = min(size, current[oid])
            elif oid in seen:
                seen[oid] = size
        yield sum(seen.values())
