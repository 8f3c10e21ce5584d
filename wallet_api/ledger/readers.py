"""Files taken in, as rows: NDJSON or CSV, plain or gzipped, or standard input; always streamed."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from wallet_api.ledger.csv_rows import BadHeader, csv_records
from wallet_api.ledger.lines import MAX_LINE_BYTES, bounded_lines, too_long, without_mark
from wallet_api.ledger.lines import Record as Record
from wallet_api.ledger.rows import BadRow, RowType

NDJSON_ENDINGS = (".ndjson", ".jsonl")
CSV_ENDING = ".csv"


class UnreadableFile(Exception):
    """Nothing, or nothing more, can be read from this file."""


class Source:
    """One file to take in; `-` is standard input, taken as NDJSON."""

    def __init__(self, name: str, file: BinaryIO, size: int | None) -> None:
        self.name = name
        self.size = size
        self._file = file
        plain = name.removesuffix(".gz")
        self._is_csv = plain.endswith(CSV_ENDING)
        self._content = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if name.endswith(".gz") else file

    def position(self) -> int:
        """How many bytes of the file, compressed as it is, were read so far; `size` is all of them."""
        return self._file.tell()

    def records(self, row_type: type[RowType]) -> Iterator[Record[RowType]]:
        """The rows of the file, blank lines left out. Raises UnreadableFile when there is none to be had.

        Where a file breaks off, as one that was not copied whole does, a last record says so.
        """
        take = csv_records if self._is_csv else ndjson_records
        last = 0
        broken: BadRow | None = None
        try:
            for record in take(bounded_lines(self._content), row_type):
                last = record[0]
                yield record
        except BadHeader as error:
            raise UnreadableFile(f"{self.name}: {error}") from error
        except (OSError, EOFError, zlib.error) as error:
            if not last:
                raise UnreadableFile(f"{self.name}: {error}") from error
            broken = BadRow(f"from here on the file cannot be read: {error}")
        if broken:
            yield last + 1, b"", broken


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """The file of this name. Raises UnreadableFile, with what names are understood."""
    if name == "-":
        yield Source(name, sys.stdin.buffer, None)
        return
    if not name.removesuffix(".gz").endswith((*NDJSON_ENDINGS, CSV_ENDING)):
        endings = ", ".join((*NDJSON_ENDINGS, CSV_ENDING))
        raise UnreadableFile(f"{name}: the name must end in {endings}, each also with .gz, or be - alone")
    try:
        file = Path(name).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror}") from error
    with file:
        yield Source(name, file, Path(name).stat().st_size)


def ndjson_records(lines: Iterable[bytes], row_type: type[RowType]) -> Iterator[Record[RowType]]:
    """The rows of NDJSON lines, numbered from 1. JSON numbers become decimals without passing a float."""
    decode = msgspec.json.Decoder(row_type).decode
    for number, line in enumerate(without_mark(lines), 1):
        if line.isspace():
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", too_long()
            continue
        try:
            row: RowType | BadRow = decode(line)
        except msgspec.DecodeError as error:
            row = BadRow(str(error))
        except UnicodeDecodeError:
            row = BadRow("the line is not UTF-8")
        yield number, line, row
