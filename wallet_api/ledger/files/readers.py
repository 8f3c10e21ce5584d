"""Read files as a stream of rows: NDJSON, CSV, an array or a list, plain or gzipped, or standard input."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, BytesIO
from itertools import chain
from pathlib import Path
from threading import Event
from typing import BinaryIO, cast

from wallet_api.base.errors import CommandError
from wallet_api.base.forms import BadRow
from wallet_api.ledger.files.csv_rows import csv_records
from wallet_api.ledger.files.file_options import NOTHING, Given
from wallet_api.ledger.files.lines import (
    BYTE_ORDER_MARK,
    MAX_LINE_BYTES,
    BadContent,
    Record,
    Warn,
    bounded_lines,
)
from wallet_api.ledger.files.lists import (
    MAX_ARRAY_BYTES,
    address_records,
    document_elements,
    elements,
    lists_addresses,
    states_row,
)
from wallet_api.ledger.files.ndjson import ndjson_records
from wallet_api.ledger.files.reading import check_stopped, interruptible
from wallet_api.ledger.files.rows import RowType, TokenIdentity, good
from wallet_api.ledger.tokens import Token
from wallet_api.settings import SettingsError

NDJSON_ENDINGS = (".ndjson", ".jsonl")
CSV_ENDING = ".csv"
# What these contain, and standard input, is seen from the first character.
_JSON_ENDING = ".json"
_LIST_ENDING = ".txt"
_GZIP = ".gz"
_ENDINGS = (*NDJSON_ENDINGS, CSV_ENDING, _JSON_ENDING, _LIST_ENDING)


class UnreadableFile(CommandError):
    """Nothing can be read from this file."""


def is_csv(name: str) -> bool:
    """Return whether the file of this name is CSV, else NDJSON. Raises UnreadableFile for any other name."""
    return _ending(name, (*NDJSON_ENDINGS, CSV_ENDING)) == CSV_ENDING


def _ending(name: str, allowed: tuple[str, ...]) -> str:
    """Return the ending of a name; `-` is its own. Raises UnreadableFile if it is not allowed."""
    plain = name.lower().removesuffix(_GZIP)
    endings = (ending for ending in allowed if plain.endswith(ending))
    ending = "-" if name == "-" else next(endings, None)
    if ending is None:
        endings_allowed = ", ".join(allowed)
        raise UnreadableFile(
            f"{name}: the name must end in {endings_allowed}, each also with .gz, or be - alone"
        )
    return ending


class Source:
    """One file of rows; `-` is standard input."""

    def __init__(self, name: str, file: BinaryIO, size: int | None, delimiter: str, given: Given) -> None:
        self.name = name
        self.size = size
        self._file = file
        self._delimiter = delimiter
        self._given = given
        self._ending = _ending(name, _ENDINGS)
        self._stop = Event()
        self._check = partial(check_stopped, self._stop)
        content = interruptible(file, self._stop)
        if name.lower().endswith(_GZIP):
            content = cast(BinaryIO, gzip.GzipFile(fileobj=content))
        self._content = cast(BufferedReader, content)

    def position(self) -> int:
        """Return how many of the `size` bytes were read, which are compressed ones; 0 without a size."""
        return os.lseek(self._file.fileno(), 0, os.SEEK_CUR) if self.size else 0

    def stop(self) -> None:
        """End a thread that reads records, also one that waits for a pipe."""
        self._stop.set()

    def records(self, row_type: type[RowType], warn: Warn | None = None) -> Iterator[Record[RowType]]:
        """Yield the rows of the file, without blank lines. Raises UnreadableFile if there is none.

        `warn` receives a text for each column or member that rows do not have; without it they are ignored.
        If the file is damaged or incomplete, the last record is that fault.
        """
        last = 0
        broken: BadRow | None = None
        try:
            for record in self._records(row_type, warn):
                last = record[0]
                yield record
        except BadContent as error:
            raise UnreadableFile(f"{self.name}: {error}") from error
        except (OSError, EOFError, zlib.error) as error:
            if not last:
                raise UnreadableFile(f"{self.name}: {error}") from error
            broken = BadRow(f"from here on the file cannot be read: {error}")
        if broken:
            yield last + 1, b"", broken

    def _records(self, row_type: type[RowType], warn: Warn | None) -> Iterator[Record[RowType]]:
        lines: Iterator[bytes] = bounded_lines(self._content, self._check)
        if self._ending == CSV_ENDING:
            return csv_records(lines, row_type, warn, self._delimiter, self._given)
        if self._ending == _LIST_ENDING and not lists_addresses(row_type):
            raise UnreadableFile(f"{self.name}: only wallets can be a list of addresses alone")
        is_ndjson = self._ending in NDJSON_ENDINGS and self._given.rows is None
        start = b"{" if is_ndjson else self._start()
        if start == b"[":
            if self._given.rows is not None:
                raise BadContent("the file is a list, and --rows is for one within an object")
            lines = elements(self._content.read(MAX_ARRAY_BYTES + 1))
        elif start not in (b"", b"{") and lists_addresses(row_type):
            return address_records(lines, row_type, self._given)
        elif not is_ndjson:
            lines = self._objects(row_type)
        return ndjson_records(lines, row_type, warn, self._given)

    def _objects(self, row_type: type[RowType]) -> Iterator[bytes]:
        """Yield the lines of NDJSON, or the elements of the list in a document."""
        head = b""
        while not head.strip() and (line := self._content.readline(MAX_ARRAY_BYTES)):
            head += line
        more = bounded_lines(self._content, self._check)
        if self._given.rows is None and states_row(head.strip(), row_type, self._given):
            return chain(bounded_lines(BytesIO(head)), more)
        head += self._content.read(MAX_ARRAY_BYTES + 1 - len(head))
        found = None if len(head) > MAX_ARRAY_BYTES else document_elements(head, row_type, self._given)
        if found is not None:
            return iter(found)
        if self._given.rows is not None:
            raise BadContent(f"a document of JSON has at most {MAX_ARRAY_BYTES >> 20} MiB")
        # A file of lines is of any size, and the last one here may be incomplete.
        return chain(bounded_lines(BytesIO(head + self._content.readline(MAX_LINE_BYTES))), more)

    def _start(self) -> bytes:
        """Return the first character of the file, which stays to be read; none after blanks alone."""
        return self._content.peek(1).removeprefix(BYTE_ORDER_MARK).lstrip()[:1]


@contextmanager
def open_source(name: str, delimiter: str = ",", given: Given = NOTHING) -> Iterator[Source]:
    """Open the file of this name; `delimiter` separates the columns of CSV, `given` completes its rows.

    Raises UnreadableFile, with the names that are allowed.
    """
    if name == "-":
        yield Source(name, sys.stdin.buffer, None, delimiter, given)
        return
    _ending(name, _ENDINGS)
    try:
        file = Path(name).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror}") from error
    with file:
        # A pipe has no size.
        yield Source(name, file, os.fstat(file.fileno()).st_size, delimiter, given)


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
