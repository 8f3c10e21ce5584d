"""CSV as rows: a header, then a record a line, or several where a quoted text holds line ends (RFC 4180)."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from wallet_api.ledger.lines import MAX_LINE_BYTES, Record, too_long, without_mark
from wallet_api.ledger.rows import BadRow, RowType

# How far to look for the end of a quoted text.
_MAX_RECORD_BYTES = 1 << 16


class BadHeader(Exception):
    """The first line does not name the columns that a row needs."""


class _Lines:
    """Numbered lines, of which those just taken can be put back."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = enumerate(lines, 1)
        self._back: deque[tuple[int, bytes]] = deque()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        return self._back.popleft() if self._back else next(self._lines)

    def put_back(self, lines: list[tuple[int, bytes]]) -> None:
        self._back.extendleft(reversed(lines))


def csv_records(lines: Iterable[bytes], row_type: type[RowType]) -> Iterator[Record[RowType]]:
    """The rows after the header, numbered by their first lines. Raises BadHeader."""
    numbered = _Lines(without_mark(lines))
    names = _header(numbered, row_type)
    for number, line in numbered:
        if not line.isspace():
            yield number, line, _record(numbered, line, names, row_type)


def _header(lines: Iterable[tuple[int, bytes]], row_type: type[RowType]) -> list[str]:
    try:
        names = [
            name.strip() for name in _values(next((line for _, line in lines if not line.isspace()), b""))
        ]
    except BadRow as fault:
        raise BadHeader(f"the header is not CSV: {fault}") from fault
    missing = [f.name for f in msgspec.structs.fields(row_type) if f.required and f.name not in names]
    if missing:
        raise BadHeader(f"the header lacks {', '.join(missing)}")
    return names


def _record(lines: _Lines, line: bytes, names: list[str], row_type: type[RowType]) -> RowType | BadRow:
    if not line.count(b'"') % 2:
        return _row(line, names, row_type)
    more = _rest_of_record(lines)
    row = _row(line + b"".join(text for _, text in more), names, row_type)
    # A quote that nobody closed must not swallow the rows behind it.
    if isinstance(row, BadRow) or any(
        not isinstance(_row(text, names, row_type), BadRow) for _, text in more
    ):
        lines.put_back(more)
        return BadRow("a quote is not closed")
    return row


def _rest_of_record(lines: _Lines) -> list[tuple[int, bytes]]:
    more: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        more.append((number, line))
        size += len(line)
        if line.count(b'"') % 2 or size > _MAX_RECORD_BYTES:
            break
    return more


def _row(record: bytes, names: list[str], row_type: type[RowType]) -> RowType | BadRow:
    if len(record) > MAX_LINE_BYTES:
        return too_long()
    try:
        values = _values(record)
        if len(values) != len(names):
            return BadRow(f"{len(values)} values for {len(names)} columns")
        # Empty is how CSV says absent.
        given = {name: value for name, value in zip(names, values, strict=True) if value != ""}
        return msgspec.convert(given, row_type, strict=False)
    except msgspec.ValidationError as error:
        return BadRow(str(error))
    except BadRow as fault:
        return fault


def _values(record: bytes) -> list[str]:
    try:
        return next(csv.reader([record.decode()], strict=True), [])
    except UnicodeDecodeError as error:
        raise BadRow("the line is not UTF-8") from error
    except csv.Error as error:
        raise BadRow(f"the line is not CSV: {error}") from error
