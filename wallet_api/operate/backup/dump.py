"""Write all tables, as one snapshot, to a file in pg_dump's custom format."""

import re
from pathlib import Path

from wallet_api.base.files import written_whole
from wallet_api.database import Connection, NotPermitted
from wallet_api.operate.backup.programs import BackupError, Note, program, run_program

_LACKS_RIGHT = re.compile(r"permission denied|lack \w+ privilege")
_COUNT_ROWS = """
SELECT (SELECT count(*) FROM wallets) AS wallets,
       (SELECT count(*) FROM trades) AS trades,
       (SELECT count(*) FROM api_keys) AS keys
"""
_HAS_TABLES = "SELECT to_regclass('public.schema_migrations') IS NOT NULL AS found"


def back_up(
    connection: Connection, url: str, file: Path, *, overwrite: bool, progress: Note
) -> dict[str, int]:
    """Write the database of `connection`, whose URL is `url`, to `file`, and return its numbers of rows."""
    if not connection.fetch_value(_HAS_TABLES):
        raise BackupError(
            f"The database {connection.info.dbname} contains no tables of this service. "
            "Check DATABASE_URL, or WALLET_API_HOME if that is not set."
        )
    pg_dump = program("pg_dump", connection)
    try:
        with written_whole(file, overwrite=overwrite) as part, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            rows = count_rows(connection)
            snapshot = connection.fetch_value("SELECT pg_export_snapshot()")
            options = ("--format=custom", "--schema=public", "--no-owner", "--no-privileges")
            try:
                run_program(pg_dump, url, [*options, f"--snapshot={snapshot}", f"--file={part}"], progress)
            except BackupError as error:
                if _LACKS_RIGHT.search(str(error)):
                    raise NotPermitted from error
                raise BackupError(f"{file}: {error}") from error
    except FileExistsError as error:
        raise BackupError(f"{file} {error.strerror}") from error
    return rows


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the numbers of wallets, trades and keys."""
    return connection.fetch_row(_COUNT_ROWS)
