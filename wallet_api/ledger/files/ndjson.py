"""Read NDJSON, a JSON object on each line, and the members of arrays, which are read likewise."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import msgspec

from wallet_api.forms import BadRow
from wallet_api.ledger.files.given import NOTHING, Given
from wallet_api.ledger.files.lines import (
    MAX_LINE_BYTES,
    Record,
    Warn,
    row_fault,
    too_long,
    unknown_names,
    unread_time,
    unreadable,
)
from wallet_api.ledger.files.lists import address_row, lists_addresses
from wallet_api.ledger.files.rows import RowType

# Only so many lines are checked for unknown members, since checking takes as long as reading.
CHECKED_LINES = 100

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_Members = dict[str, msgspec.Raw]

_encode = msgspec.json.encode


def ndjson_records(
    lines: Iterable[bytes], row_type: type[RowType], warn: Warn | None = None, given: Given = NOTHING
) -> Iterator[Record[RowType]]:
    """Yield the rows of NDJSON lines, numbered from 1; `warn` receives unknown members of the first lines.

    JSON numbers are whole numbers or texts, which pass no float.
    """
    read = _reader(row_type, given)
    check_names = unknown_names(row_type, "member", warn, given) if warn else None
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", too_long()
            continue
        if check_names and number <= CHECKED_LINES:
            with suppress(*_UNREADABLE):
                check_names(_members(line))
        yield number, line, read(line)


def _reader(row_type: type[RowType], given: Given) -> Callable[[bytes], RowType | BadRow]:
    """Return a function that reads a line."""
    decode = msgspec.json.Decoder(row_type, float_hook=str).decode
    is_completed = given != NOTHING
    takes_addresses = lists_addresses(row_type)

    def read(line: bytes) -> RowType | BadRow:
        try:
            if takes_addresses and line.startswith(b'"'):
                return address_row(msgspec.json.decode(line, type=str), row_type, given)
            return decode(_encode(_completed(line, given)) if is_completed else line)
        except BadRow as fault:
            return fault
        except msgspec.ValidationError as error:
            return mended(line, error)
        except _UNREADABLE as error:
            return unreadable(error)

    def mended(line: bytes, error: msgspec.ValidationError) -> RowType | BadRow:
        try:
            members = _completed(line, given)
        except _UNREADABLE as later:
            return unreadable(later)
        if time := unread_time(error, row_type, members):
            members[time[0]] = msgspec.Raw(_encode(time[1]))
            try:
                return decode(_encode(members))
            except msgspec.ValidationError as later:
                error = later
        return row_fault(error, row_type, members)

    return read


def _completed(line: bytes, given: Given) -> _Members:
    """Return the members of an object by the names of fields, with what the file lacks. Raises BadRow."""
    members = _members(line)
    if given.columns:
        members = {
            field: value for name, value in members.items() if (field := given.field_of(name)) is not None
        }
    given.fill(members, lambda text: msgspec.Raw(_encode(text)), msgspec.json.decode)
    return members


def _members(line: bytes) -> _Members:
    """Return the members of a JSON object, their values as they are written."""
    return msgspec.json.decode(line, type=_Members)
