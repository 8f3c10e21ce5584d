"""Read CSV (RFC 4180): a header, then a record on each line, or on several if it contains line breaks."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from wallet_api.ledger.fields import BadRow, shown
from wallet_api.ledger.lines import MAX_LINE_BYTES, Record, too_long, without_mark
from wallet_api.ledger.names import UnknownNames, Warn, all_names, missing, required_names
from wallet_api.ledger.reasons import not_utf8, row_fault
from wallet_api.ledger.rows import RowType

# The longest record with line breaks.
_MAX_RECORD_BYTES = 1 << 16
_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_SHOWN_NAMES = 20


class BadHeader(Exception):
    """The first line does not name the columns that a row needs."""


class _Lines:
    """Numbered lines, of which the last ones read can be put back."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = enumerate(lines, 1)
        self._back: deque[tuple[int, bytes]] = deque()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        return self._back.popleft() if self._back else next(self._lines)

    def put_back(self, lines: list[tuple[int, bytes]]) -> None:
        self._back.extendleft(reversed(lines))


def csv_records(
    lines: Iterable[bytes], row_type: type[RowType], warn: Warn | None = None
) -> Iterator[Record[RowType]]:
    """Yield the rows after the header, numbered by their first lines; `warn` receives the unknown columns.

    An empty cell is an empty text. Raises BadHeader.
    """
    numbered = _Lines(without_mark(lines))
    names = _header(numbered, row_type)
    if warn:
        UnknownNames(row_type, "column", warn).check(names)
    for number, line in numbered:
        if not line.isspace():
            yield number, line, _record(numbered, line, names, row_type)


def _header(lines: Iterable[tuple[int, bytes]], row_type: type[RowType]) -> list[str]:
    needed = f"the first line must name the columns {', '.join(required_names(row_type))}"
    try:
        names = [
            name.strip() for name in _values(next((line for _, line in lines if not line.isspace()), b""))
        ]
    except BadRow as fault:
        raise BadHeader(f"the header cannot be read: {fault}") from fault
    if not names:
        raise BadHeader(f"the header is missing, since the file is empty; {needed}")
    if len(names) == 1:
        for delimiter, plural in _OTHER_DELIMITERS.items():
            if delimiter in names[0]:
                raise BadHeader(
                    f"the header has one column {shown(names[0])}; separate columns by commas, not {plural}"
                )
    lacking = missing(row_type, names)
    if lacking:
        found = ", ".join(map(shown, names[:_SHOWN_NAMES])) + (", …" if len(names) > _SHOWN_NAMES else "")
        raise BadHeader(f"the header lacks {lacking}; it has {found}; {needed}, spelled exactly so")
    for name in all_names(row_type):
        if names.count(name) > 1:
            raise BadHeader(f"the header has the column {name} {names.count(name)} times; leave one")
    return names


def _record(lines: _Lines, line: bytes, names: list[str], row_type: type[RowType]) -> RowType | BadRow:
    if not line.count(b'"') % 2:
        return _row(line, names, row_type)
    more = _rest_of_record(lines)
    row = _row(line + b"".join(text for _, text in more), names, row_type)
    # An unclosed quote must not include the rows after it.
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
    except BadRow as fault:
        return fault
    if len(values) != len(names):
        hint = "; a value that contains a comma must be in double quotes" if len(values) > len(names) else ""
        return BadRow(f"the line has {len(values)} values for {len(names)} columns{hint}")
    given = dict(zip(names, values, strict=True))
    try:
        return msgspec.convert(given, row_type)
    except msgspec.ValidationError:
        return row_fault(given, row_type)


def _values(record: bytes) -> list[str]:
    try:
        return next(csv.reader([record.decode()], strict=True), [])
    except UnicodeDecodeError as error:
        raise not_utf8(error) from error
    except csv.Error as error:
        raise BadRow("the line is not valid CSV", f": {error}") from error
