"""Exports of the ledger: files that an import reads, as a stream from PostgreSQL's COPY."""

import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal, cast

from wallet_api.base.chains import CHAINS
from wallet_api.base.files import written_whole
from wallet_api.database import Connection, load_statements
from wallet_api.ledger.files.readers import is_csv

ExportKind = Literal["wallets", "trades", "prices"]
# Called with the number of rows that are written, and of all rows.
Progress = Callable[[int, int], None]

_STATEMENTS = load_statements(__package__, "exports")
_COPY_CSV = "COPY ({}) TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')"
# JSON contains neither of the two control characters, so that nothing is quoted.
_COPY_NDJSON = (
    "COPY (SELECT row_to_json(line) FROM ({}) AS line) TO STDOUT"
    " (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02', ENCODING 'UTF8')"
)
_PROGRESS_ROWS = 1000
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class ExportFilters:
    """What to export: None does not restrict. Times are from `since` until before `until`."""

    kind: ExportKind
    blockchain: str | None = None
    type: str | None = None
    address: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the statements."""
        currency = CHAINS[self.blockchain].currency if self.blockchain else None
        return vars(self) | {"currency": currency}


@dataclass
class Exported:
    """The rows of an export, and how many have texts whose line breaks are written as spaces."""

    rows: int = 0
    without_line_breaks: int = 0


def export(
    connection: Connection,
    filters: ExportFilters,
    name: str,
    *,
    overwrite: bool = False,
    progress: Progress = lambda done, of: None,
) -> Exported:
    """Write the rows to the file `name`, in the format of its name; `-` is NDJSON to standard output.

    The file is one snapshot, private, and appears when it is complete. Raises UnreadableFile for a name
    without a format, FileExistsError.
    """
    as_csv = is_csv(name)
    parameters = filters.parameters()
    with _target(name, overwrite=overwrite) as file, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute("SET LOCAL jit = off")
        count = connection.fetch_value(_STATEMENTS[f"{filters.kind}_count"], parameters)
        exported = Exported()
        chunk = bytearray()
        for line in _lines(connection, filters.kind, parameters, as_csv=as_csv):
            chunk += line if not as_csv else _one_line(line, exported)
            if len(chunk) > _CHUNK_BYTES:
                file.write(chunk)
                chunk.clear()
            exported.rows += 1
            if exported.rows % _PROGRESS_ROWS == 0:
                progress(exported.rows, count)
        file.write(chunk)
        exported.rows -= as_csv
    return exported


def _lines(
    connection: Connection, kind: ExportKind, parameters: dict[str, object], *, as_csv: bool
) -> Iterator[bytes]:
    """Yield the lines of a file, the header of CSV first."""
    copy = (_COPY_CSV if as_csv else _COPY_NDJSON).format(_STATEMENTS[kind])
    with connection.cursor() as cursor, cursor.copy(copy, parameters) as rows:
        for row in rows:
            yield bytes(row)


def _one_line(record: bytes, exported: Exported) -> bytes:
    """Return a record of CSV without line breaks: a text could look like rows of its own after one."""
    if b"\r" not in record and record.count(b"\n") == 1:
        return record
    exported.without_line_breaks += 1
    return b" ".join(record.splitlines()) + b"\n"


@contextmanager
def _target(name: str, *, overwrite: bool) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with written_whole(Path(name), overwrite=overwrite) as part, part.open("wb") as file:
        if not name.endswith(".gz"):
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
            yield cast(BinaryIO, compressed)
