"""Load the rows of a dump: each line that is no row is read here, and nothing of the dump is run."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from subprocess import PIPE
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import BinaryIO

import psycopg
from psycopg.sql import SQL, Identifier

from wallet_api.database import Connection, load_statements
from wallet_api.operate.backup.programs import BackupError, Note, newest, plain_environment, running_program

_LOADING = load_statements(__package__, "loading")
# A line of `pg_restore --list` with rows of a table, or the place of a sequence.
_ENTRY = re.compile(r"^\d+; [\d ]+ (?:TABLE DATA|SEQUENCE SET) public (\w+) .*$", re.MULTILINE)
_COPY = re.compile(rb"COPY public\.(\w+) \((.+)\) FROM stdin;\n")
_PLACE = re.compile(rb"SELECT pg_catalog\.setval\('public\.(\w+)', (\d+), (true|false)\);\n")
_END = b"\\.\n"
_LINES = 5_000


def load_dump(connection: Connection, file: Path, listing: str, progress: Note) -> None:
    """Replace the rows of all tables by those of the dump `file`, whose list of contents is `listing`.

    Runs in the caller's transaction. Raises BackupError or a psycopg error.
    """
    tables = _tables(connection)
    sequences = {row["name"] for row in connection.execute(_LOADING["sequences"])}
    entries = {found[1]: found[0] for found in _ENTRY.finditer(listing)}
    if missing := sorted({*tables, *sequences} - entries.keys()):
        raise BackupError(f"it is not a complete backup: the rows of the table {missing[0]} are missing")
    connection.execute(
        SQL("TRUNCATE {}").format(SQL(", ").join(Identifier("public", name) for name in tables))
    )
    loaded: set[str] = set()
    with _script(file, [entries[name] for name in (*tables, *sorted(sequences))]) as script:
        for line in script:
            if found := _COPY.fullmatch(line):
                name, columns = found[1].decode(), [text.strip('"') for text in found[2].decode().split(", ")]
                if name in loaded or set(columns) != tables.get(name):
                    raise BackupError(f"its table {name} is another than that of its version")
                _copy(connection, script, name, columns, progress)
                loaded.add(name)
            elif found := _PLACE.fullmatch(line):
                name = found[1].decode()
                if name in sequences:
                    parameters = {"name": name, "place": int(found[2]), "is_called": found[3] == b"true"}
                    connection.execute(_LOADING["place"], parameters)
                    loaded.add(name)
    if missing := sorted({*tables, *sequences} - loaded):
        raise BackupError(f"the rows of the table {missing[0]} cannot be read")


def _tables(connection: Connection) -> dict[str, set[str]]:
    """Return the columns of each table, those first that others refer to."""
    rows = connection.execute(_LOADING["tables"]).fetchall()
    columns = {row["name"]: set(row["columns"]) for row in rows}
    order = TopologicalSorter({row["name"]: row["referenced"] for row in rows}).static_order()
    return {name: columns[name] for name in order}


def _copy(
    connection: Connection, script: BinaryIO, name: str, columns: Sequence[str], progress: Note
) -> None:
    """Copy the rows that follow in the script, up to their end."""
    statement = SQL("COPY {} ({}) FROM STDIN").format(
        Identifier("public", name), SQL(", ").join(map(Identifier, columns))
    )
    rows = 0
    progress(name)
    noted_at = time.monotonic()
    lines: list[bytes] = []
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for line in script:
            if line == _END:
                copy.write(b"".join(lines))
                return
            lines.append(line)
            if len(lines) == _LINES:
                copy.write(b"".join(lines))
                rows += len(lines)
                lines.clear()
            if time.monotonic() - noted_at > 1 and not lines:
                progress(f"{name}, {rows:,} rows")
                noted_at = time.monotonic()
        raise BackupError(f"the rows of the table {name} end too early")


@contextmanager
def _script(file: Path, entries: Sequence[str]) -> Iterator[BinaryIO]:
    """Yield the script that pg_restore makes of these entries, in their order. Raises BackupError."""
    with NamedTemporaryFile("w") as order, TemporaryFile() as messages:
        order.write("\n".join(entries) + "\n")
        order.flush()
        command = [
            str(newest("pg_restore")),
            "--data-only",
            f"--use-list={order.name}",
            "--file=-",
            str(file.absolute()),
        ]
        with running_program(command, plain_environment(), stdout=PIPE, stderr=messages) as process:
            assert process.stdout is not None
            with process.stdout as script:
                yield script  # type: ignore[misc]
            status = process.wait()
        if status:
            messages.seek(0)
            reason = messages.read().decode(errors="replace").strip().partition("\n")[0]
            raise BackupError(f"pg_restore failed: {reason or f'exit status {status}'}")


def reason_of(error: psycopg.Error) -> str:
    """Return what the server says, without the rows in its details."""
    return error.diag.message_primary or str(error).partition("\n")[0]
