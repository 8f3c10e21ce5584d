"""Write all tables, as one snapshot, to a file in pg_dump's custom format."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wallet_api.backup.programs import BackupError, Progress, program, run
from wallet_api.database import Connection, load_sql

_COUNT_ROWS = load_sql(__package__, "count_rows")
_HAS_TABLES = "SELECT to_regclass('public.schema_migrations') IS NOT NULL AS found"


def back_up(
    connection: Connection, url: str, file: Path, *, overwrite: bool, progress: Progress
) -> dict[str, int]:
    """Write the database of `connection`, whose URL is `url`, to `file`, and return its numbers of rows."""
    if not connection.fetch_value(_HAS_TABLES):
        raise BackupError(
            f"The database {connection.info.dbname} contains no tables of this service. "
            "Check DATABASE_URL, or WALLET_API_HOME if that is not set."
        )
    pg_dump = program("pg_dump", connection)
    with _written_whole(file, overwrite=overwrite) as part, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        rows = count_rows(connection)
        snapshot = connection.fetch_value("SELECT pg_export_snapshot()")
        options = ("--format=custom", "--schema=public", "--no-owner", "--no-privileges")
        run(pg_dump, url, [*options, f"--snapshot={snapshot}", f"--file={part}"], progress)
    return rows


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the numbers of wallets, trades and keys."""
    return dict(connection.execute(_COUNT_ROWS).fetchone() or {})


@contextmanager
def _written_whole(file: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a private file beside `file`; on exit, rename it, or remove it after an exception."""
    if file.exists() and not (overwrite and file.is_file()):
        raise BackupError(f"{file} exists already. Choose another name, or replace a file with --force.")
    descriptor, name = tempfile.mkstemp(".part", f"{file.name}.", file.parent)
    try:
        yield Path(name)
        os.fsync(descriptor)
        Path(name).rename(file)
    except BaseException:
        Path(name).unlink()
        raise
    finally:
        os.close(descriptor)
