"""Read CSV (RFC 4180): a header, then a record on each line, or on several if it contains line breaks."""

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import BadRow, shown, visible
from wallet_api.ledger.files.file_options import NOTHING, Given, remedy_for
from wallet_api.ledger.files.lines import (
    MAX_LINE_BYTES,
    BadContent,
    Record,
    Warn,
    check_times,
    mended,
    row_fault,
    too_long,
    unknown_names,
    unreadable,
)
from wallet_api.ledger.files.lists import lists_addresses
from wallet_api.ledger.files.rows import RowType

# The longest record with line breaks.
_MAX_RECORD_BYTES = 1 << 16
# Nearly every header is shown whole.
_SHOWN_CHARACTERS = 4000
# One of them is enough.
_VALUES = ("value", "value_usd")
_SEPARATORS = frozenset(",;|\t")
_NAME = {",": "comma", ";": "semicolon", "\t": "tab"}
# What Excel writes before the header.
_STATED = re.compile(rb'"?sep=(.)"?\s*', re.DOTALL)
_NAMES = {delimiter: f"{name}s" for delimiter, name in _NAME.items()}


def csv_records(
    lines: Iterable[bytes],
    row_type: type[RowType],
    warn: Warn | None = None,
    delimiter: str = ",",
    given: Given = NOTHING,
) -> Iterator[Record[RowType]]:
    """Yield the rows after the header, numbered by their first lines; `warn` receives the unknown columns.

    An empty cell is an empty text. A first line such as `sep=;` states the delimiter. Raises BadContent.
    """
    numbered = enumerate(lines, 1)
    filled = (line for _, line in numbered if not line.isspace())
    first = next(filled, b"")
    if stated := _STATED.fullmatch(first):
        delimiter, first = stated[1].decode("latin-1"), next(filled, b"")
    names = _header(first, row_type, delimiter, given)
    if warn:
        unknown_names(row_type, "column", warn, given)(names)
    fields = [given.field_of(name) or "" for name in names]
    put_back: deque[tuple[int, bytes]] = deque()

    def read(record: bytes) -> RowType | BadRow:
        return _row(record, fields, row_type, delimiter, given)

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


def _header(line: bytes, row_type: type[msgspec.Struct], delimiter: str, given: Given) -> list[str]:
    try:
        names = [name.strip() for name in _values(line, delimiter)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadContent(f"the header cannot be read: {error}; files are UTF-8") from error
    fields = msgspec.structs.fields(row_type)
    required = [field.name for field in fields if field.required and field.name not in given.values]
    wanted = dict.fromkeys((*required, *given.columns))
    lacking = [given.name_of(field) for field in wanted if given.name_of(field) not in names]
    values = [given.name_of(field) for field in _VALUES if field in row_type.__struct_fields__]
    if values and not set(values).intersection(names):
        lacking.append(" or ".join(values))
    repeated = [name for field in fields if names.count(name := given.name_of(field.name)) > 1]
    if not lacking and not repeated:
        return names
    faults = [f"lacks {', '.join(lacking)}"] if lacking else []
    faults += [f"repeats {', '.join(repeated)}"] if repeated else []
    remedies = []
    if len(names) == 1 and not _SEPARATORS.isdisjoint(names[0]):
        separated = _NAMES.get(delimiter, delimiter)
        remedies = [f"columns are separated by {separated}, or --delimiter names another character"]
    elif names and lists_addresses(row_type) and any(chain.is_address(names[0]) for chain in CHAINS.values()):
        remedies = ["a list of addresses has no header, and a name that ends in .txt"]
    elif lacking:
        remedies = [remedy_for(*lacking)]
    header = f"it is {shown(delimiter.join(map(visible, names)), _SHOWN_CHARACTERS)}"
    raise BadContent("; ".join((f"the header {' and '.join(faults)}", *remedies, header)))


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


def _row(
    record: bytes, fields: list[str], row_type: type[RowType], delimiter: str, given: Given
) -> RowType | BadRow:
    if len(record) > MAX_LINE_BYTES:
        return too_long()
    try:
        values = _values(record, delimiter)
    except (UnicodeDecodeError, csv.Error) as error:
        return unreadable(error)
    if len(values) != len(fields):
        return BadRow(
            f"the line has {len(values)} values for {len(fields)} columns;"
            f" a value that contains a {_NAME.get(delimiter, delimiter)} must be in double quotes"
        )
    cells: dict[str, Any] = dict(zip(fields, values, strict=True))
    try:
        if given.values:
            given.fill(cells, str, str)
        if b"\0" in record:
            check_times(row_type, cells)
        return msgspec.convert(cells, row_type)
    except BadRow as fault:
        return fault
    except msgspec.ValidationError as error:
        return _mended(cells, row_type, error)


def _mended(
    cells: dict[str, Any], row_type: type[RowType], error: msgspec.ValidationError
) -> RowType | BadRow:
    """Return the row with its time and words as other tools write them, or its fault."""
    while better := mended(error, row_type, cells):
        cells[better[0]] = better[1]
        try:
            return msgspec.convert(cells, row_type)
        except msgspec.ValidationError as later:
            error = later
    return row_fault(error, row_type, cells)


def _values(record: bytes, delimiter: str) -> list[str]:
    return next(csv.reader([record.decode()], strict=True, delimiter=delimiter, skipinitialspace=True), [])
