"""Read CSV (RFC 4180): a header, then a record on each line, or on several if it contains line breaks."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from wallet_api.forms import BadRow, shown
from wallet_api.ledger.files.lines import (
    MAX_LINE_BYTES,
    Record,
    Warn,
    row_fault,
    too_long,
    unknown_names,
    unreadable,
)
from wallet_api.ledger.files.rows import RowType

# The longest record with line breaks.
_MAX_RECORD_BYTES = 1 << 16
_NAME = {",": "comma", ";": "semicolon", "\t": "tab"}
_NAMES = {delimiter: f"{name}s" for delimiter, name in _NAME.items()}


class BadHeader(Exception):
    """The first line does not name the columns that a row needs."""


def csv_records(
    lines: Iterable[bytes], row_type: type[RowType], warn: Warn | None = None, delimiter: str = ","
) -> Iterator[Record[RowType]]:
    """Yield the rows after the header, numbered by their first lines; `warn` receives the unknown columns.

    An empty cell is an empty text. Raises BadHeader.
    """
    numbered = enumerate(lines, 1)
    names = _header(next((line for _, line in numbered if not line.isspace()), b""), row_type, delimiter)
    if warn:
        unknown_names(row_type, "column", warn)(names)
    put_back: deque[tuple[int, bytes]] = deque()

    def read(record: bytes) -> RowType | BadRow:
        return _row(record, names, row_type, delimiter)

    def take() -> tuple[int, bytes] | None:
        return put_back.popleft() if put_back else next(numbered, None)

    for number, line in iter(take, None):
        if line.isspace():
            continue
        if not line.count(b'"') % 2:
            yield number, line, read(line)
            continue
        more = _until_quote(iter(take, None))
        row = read(line + b"".join(text for _, text in more))
        # An unclosed quote must not include the rows after it.
        if isinstance(row, BadRow) or any(not isinstance(read(text), BadRow) for _, text in more):
            put_back.extendleft(reversed(more))
            row = BadRow("a quote is not closed")
        yield number, line, row


def _header(line: bytes, row_type: type[msgspec.Struct], delimiter: str) -> list[str]:
    try:
        names = [name.strip() for name in _values(line, delimiter)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadHeader(f"the header cannot be read: {error}") from error
    fields = msgspec.structs.fields(row_type)
    required = [field.name for field in fields if field.required]
    found = {
        "lacks": [name for name in required if name not in names],
        "repeats": [field.name for field in fields if names.count(field.name) > 1],
    }
    faults = [f"{verb} {', '.join(columns)}" for verb, columns in found.items() if columns]
    if faults:
        raise BadHeader(
            f"the header {' and '.join(faults)}; it must name the columns {', '.join(required)}, each once"
            f" and spelled exactly so, separated by {_NAMES.get(delimiter, delimiter)}, or --delimiter names"
            f" another one; it is {shown(delimiter.join(names))}"
        )
    return names


def _until_quote(lines: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return the next lines up to one that closes the open quote, or as many as a record can have."""
    found: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        found.append((number, line))
        size += len(line)
        if line.count(b'"') % 2 or size > _MAX_RECORD_BYTES:
            break
    return found


def _row(record: bytes, names: list[str], row_type: type[RowType], delimiter: str) -> RowType | BadRow:
    if len(record) > MAX_LINE_BYTES:
        return too_long()
    try:
        values = _values(record, delimiter)
    except (UnicodeDecodeError, csv.Error) as error:
        return unreadable(error)
    if len(values) != len(names):
        return BadRow(
            f"the line has {len(values)} values for {len(names)} columns;"
            f" a value that contains a {_NAME.get(delimiter, delimiter)} must be in double quotes"
        )
    given = dict(zip(names, values, strict=True))
    try:
        return msgspec.convert(given, row_type)
    except msgspec.ValidationError as error:
        return row_fault(error, row_type, given)


def _values(record: bytes, delimiter: str) -> list[str]:
    return next(csv.reader([record.decode()], strict=True, delimiter=delimiter), [])
