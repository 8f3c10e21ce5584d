"""Read NDJSON, a JSON object on each line, and the members of arrays, which are read likewise."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import msgspec
from msgspec import UNSET

from wallet_api.forms import BadRow, shown
from wallet_api.ledger.files.given import NOTHING, Given
from wallet_api.ledger.files.lines import (
    MAX_LINE_BYTES,
    Record,
    Warn,
    check_times,
    mended,
    row_fault,
    too_long,
    unknown_names,
    unreadable,
)
from wallet_api.ledger.files.lists import address_row, lists_addresses
from wallet_api.ledger.files.rows import RowType

# Only so many lines are checked for unknown members, since checking takes as long as reading.
CHECKED_LINES = 100

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_Members = dict[str, msgspec.Raw]

# Between the name of a member and its value, unless there is a blank.
_COLON = b'":'
_NUL = b"\\u0000"

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
            with suppress(BadRow, *_UNREADABLE):
                check_names(_members(line))
        yield number, line, read(line)


def _reader(row_type: type[RowType], given: Given) -> Callable[[bytes], RowType | BadRow]:
    """Return a function that reads a line."""
    decode = msgspec.json.Decoder(row_type, float_hook=str).decode
    is_completed = given != NOTHING
    takes_addresses = lists_addresses(row_type)
    fields = msgspec.structs.fields(row_type)
    required = sum(field.required for field in fields)
    optional = [field.name for field in fields if not field.required]

    def read(line: bytes) -> RowType | BadRow:
        try:
            if takes_addresses and line.startswith(b'"'):
                return address_row(msgspec.json.decode(line, type=str), row_type, given)
            if is_completed or _NUL in line:
                return read_members(_completed(line, given))
            row = decode(line)
            stated = required + sum([getattr(row, name) is not UNSET for name in optional])
            if line.count(_COLON) != stated or _has_spaced_quotes(line):
                _members(line)
        except BadRow as fault:
            return fault
        except msgspec.ValidationError:
            return again(line)
        except _UNREADABLE as error:
            return unreadable(error)
        return row

    def again(line: bytes) -> RowType | BadRow:
        try:
            return read_members(_completed(line, given))
        except BadRow as fault:
            return fault
        except _UNREADABLE as error:
            return unreadable(error)

    def read_members(members: _Members) -> RowType | BadRow:
        check_times(row_type, members)
        for _ in fields:
            try:
                return decode(_encode(members))
            except msgspec.ValidationError as error:
                better = mended(error, row_type, members)
                if better is None:
                    return row_fault(error, row_type, members)
                members[better[0]] = msgspec.Raw(_encode(better[1]))
        return decode(_encode(members))

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
    """Return the members of a JSON object, their values as written. Raises BadRow if one is there twice."""
    members = msgspec.json.decode(line, type=_Members)
    # Nearly always so many members are written, and a colon that follows a quote is in no value.
    if len(members) != line.count(_COLON) or _has_spaced_quotes(line):
        names = [name for name, _ in json.loads(line, object_pairs_hook=_Pairs)]
        for name in members:
            if names.count(name) > 1:
                raise BadRow(f"the member {shown(name)} is there twice")
    return members


class _Pairs(list[tuple[str, object]]):
    """The members of an object, also those of which a later one has the name."""


def _has_spaced_quotes(line: bytes) -> bool:
    return b'" ' in line or b'"\t' in line or b'"\n' in line or b'"\r' in line
