"""Files taken in, as rows: NDJSON or CSV, plain or gzipped, or standard input; always streamed."""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import orjson

from wallet_api.ledger.rows import BadRow, RowType

MAX_LINE_BYTES = 1 << 20
NDJSON_ENDINGS = (".ndjson", ".jsonl")
CSV_ENDING = ".csv"

# Its line number, the line as it came, and the row or what is wrong with it.
Record = tuple[int, bytes, RowType | BadRow]


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
        """The rows of the file, blank lines left out. Raises UnreadableFile where it breaks off."""
        try:
            if self._is_csv:
                yield from _csv_records(self._content, row_type)
            else:
                yield from ndjson_records(_bounded_lines(self._content), row_type)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableFile(f"{self.name}: cannot be read to its end: {error}") from error


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
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", BadRow(f"the line is longer than {MAX_LINE_BYTES} bytes")
            continue
        try:
            row: RowType | BadRow = decode(line)
        except msgspec.DecodeError as error:
            row = BadRow(str(error))
        except UnicodeDecodeError:
            row = BadRow("the line is not UTF-8")
        yield number, line, row


def _bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)


def _csv_records(file: BinaryIO, row_type: type[RowType]) -> Iterator[Record[RowType]]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text, strict=True)
    names = [name.strip() for name in next(reader, [])]
    missing = [f.name for f in msgspec.structs.fields(row_type) if f.required and f.name not in names]
    if missing:
        raise UnreadableFile(f"the header lacks {', '.join(missing)}")
    while True:
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, b"", BadRow(str(error))
            continue
        if values:
            yield reader.line_num, *_csv_row(names, values, row_type)


def _csv_row(names: list[str], values: list[str], row_type: type[RowType]) -> tuple[bytes, RowType | BadRow]:
    # Empty is how CSV says absent.
    given = {name: value for name, value in zip(names, values, strict=False) if value != ""}
    raw = orjson.dumps({n: v.encode("utf-8", "replace").decode() for n, v in given.items()})
    if len(values) != len(names):
        return raw, BadRow(f"{len(values)} values for {len(names)} columns")
    if not all(value.isprintable() or _is_utf8(value) for value in values):
        return raw, BadRow("the line is not UTF-8")
    try:
        return raw, msgspec.convert(given, row_type, strict=False)
    except msgspec.ValidationError as error:
        return raw, BadRow(str(error))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
