"""Read files as a stream of rows: NDJSON or CSV, plain or gzipped, or standard input."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from wallet_api.forms import BadRow
from wallet_api.ledger.files.csv_rows import BadHeader, csv_records
from wallet_api.ledger.files.lines import (
    MAX_LINE_BYTES,
    Record,
    Warn,
    bounded_lines,
    row_fault,
    too_long,
    unknown_names,
    unreadable,
)
from wallet_api.ledger.files.rows import RowType, TokenIdentity, good
from wallet_api.ledger.tokens import Token
from wallet_api.settings import SettingsError

# Only so many lines of NDJSON are checked for unknown members, since checking takes as long as reading.
CHECKED_LINES = 100
NDJSON_ENDINGS = (".ndjson", ".jsonl")
CSV_ENDING = ".csv"

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class UnreadableFile(Exception):
    """Nothing can be read from this file."""


def is_csv(name: str) -> bool:
    """Return whether the file of this name is CSV, else NDJSON. Raises UnreadableFile for any other name."""
    if name != "-" and not name.removesuffix(".gz").endswith((*NDJSON_ENDINGS, CSV_ENDING)):
        endings = ", ".join((*NDJSON_ENDINGS, CSV_ENDING))
        raise UnreadableFile(f"{name}: the name must end in {endings}, each also with .gz, or be - alone")
    return name.removesuffix(".gz").endswith(CSV_ENDING)


class Source:
    """One file of rows; `-` is standard input, read as NDJSON."""

    def __init__(self, name: str, file: BinaryIO, size: int | None, delimiter: str) -> None:
        self.name = name
        self.size = size
        self._file = file
        self._delimiter = delimiter
        self._is_csv = is_csv(name)
        self._content = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if name.endswith(".gz") else file

    def position(self) -> int:
        """Return how many of the `size` bytes were read, which are compressed ones; 0 for standard input."""
        return 0 if self.size is None else self._file.tell()

    def records(self, row_type: type[RowType], warn: Warn | None = None) -> Iterator[Record[RowType]]:
        """Yield the rows of the file, without blank lines. Raises UnreadableFile if there is none.

        `warn` receives a text for each column or member that rows do not have; without it they are ignored.
        If the file is damaged or incomplete, the last record is that fault.
        """
        lines = bounded_lines(self._content)
        if self._is_csv:
            records = csv_records(lines, row_type, warn, self._delimiter)
        else:
            records = ndjson_records(lines, row_type, warn)
        last = 0
        broken: BadRow | None = None
        try:
            for record in records:
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
def open_source(name: str, delimiter: str = ",") -> Iterator[Source]:
    """Open the file of this name; `delimiter` separates the columns of CSV.

    Raises UnreadableFile, with the names that are allowed.
    """
    if name == "-":
        yield Source(name, sys.stdin.buffer, None, delimiter)
        return
    is_csv(name)
    try:
        file = Path(name).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror}") from error
    with file:
        yield Source(name, file, Path(name).stat().st_size, delimiter)


def read_denied(name: str | None) -> frozenset[Token]:
    """Return the tokens of the file TOKEN_DENYLIST; none if it is not set. Raises SettingsError."""
    if name is None:
        return frozenset()
    denied: set[Token] = set()
    try:
        with open_source(name) as source:
            for number, _, row in source.records(TokenIdentity):
                try:
                    denied.add(good(row).key())
                except BadRow as fault:
                    raise SettingsError(f"TOKEN_DENYLIST: line {number} of {name}: {fault}") from fault
    except UnreadableFile as error:
        raise SettingsError(f"TOKEN_DENYLIST: {error}") from error
    return frozenset(denied)


def ndjson_records(
    lines: Iterable[bytes], row_type: type[RowType], warn: Warn | None = None
) -> Iterator[Record[RowType]]:
    """Yield the rows of NDJSON lines, numbered from 1; `warn` receives unknown members of the first lines.

    JSON numbers are whole numbers or texts, which pass no float.
    """
    decode = msgspec.json.Decoder(row_type, float_hook=str).decode
    check_names = unknown_names(row_type, "member", warn) if warn else None
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", too_long()
            continue
        if check_names and number <= CHECKED_LINES:
            with suppress(*_UNREADABLE):
                check_names(_members(line))
        try:
            row: RowType | BadRow = decode(line)
        except _UNREADABLE as error:
            row = _fault(line, error, row_type)
        yield number, line, row


def _fault(line: bytes, error: Exception, row_type: type[msgspec.Struct]) -> BadRow:
    if isinstance(error, msgspec.ValidationError):
        try:
            return row_fault(error, row_type, _members(line))
        except _UNREADABLE as later:
            error = later
    return unreadable(error)


def _members(line: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a JSON object, their values as they are written."""
    return msgspec.json.decode(line, type=dict[str, msgspec.Raw])
