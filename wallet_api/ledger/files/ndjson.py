"""Read NDJSON, a JSON object on each line, and the members of arrays, which are read likewise."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Generic

import msgspec
from msgspec import UNSET

from wallet_api.base.forms import BadRow, shown
from wallet_api.ledger.files.file_options import NOTHING, Given
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

# Between the name of a member and its value, once there are no blanks.
_COLON = b'":'
_BLANKS = b" \t\r\n"
_NUL = b"\\u0000"

_encode = msgspec.json.encode


def ndjson_records(
    lines: Iterable[bytes], row_type: type[RowType], warn: Warn | None = None, given: Given = NOTHING
) -> Iterator[Record[RowType]]:
    """Yield the rows of NDJSON lines, numbered from 1; `warn` receives unknown members of the first lines.

    JSON numbers are whole numbers or texts, which pass no float.
    """
    read = _Reader(row_type, given).read
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


class _Reader(Generic[RowType]):
    """Reads the lines of a file, each as a row or as why there is none."""

    def __init__(self, row_type: type[RowType], given: Given) -> None:
        self._row_type = row_type
        self._given = given
        self._decode = msgspec.json.Decoder(row_type, float_hook=str).decode
        self._is_completed = given != NOTHING
        self._takes_addresses = lists_addresses(row_type)
        fields = msgspec.structs.fields(row_type)
        self._fields = len(fields)

    def read(self, line: bytes) -> RowType | BadRow:
        """Return the row of a line, or the fault in it."""
        try:
            return self._row(line)
        except BadRow as fault:
            return fault
        except _UNREADABLE as error:
            return unreadable(error)

    def _row(self, line: bytes) -> RowType | BadRow:
        if self._takes_addresses and line.startswith(b'"'):
            return address_row(msgspec.json.decode(line, type=str), self._row_type, self._given)
        # Few lines have a backslash, which is found faster.
        if self._is_completed or (b"\\" in line and _NUL in line):
            return self._read_members(line)
        try:
            row = self._decode(line)
        except msgspec.ValidationError:
            return self._read_members(line)
        if _most_members(line) != self._fields - msgspec.structs.astuple(row).count(UNSET):
            _members(line)
        return row

    def _read_members(self, line: bytes) -> RowType | BadRow:
        members = _completed(line, self._given)
        check_times(self._row_type, members)
        for _ in range(self._fields):
            try:
                return self._decode(_encode(members))
            except msgspec.ValidationError as error:
                better = mended(error, self._row_type, members)
                if better is None:
                    return row_fault(error, self._row_type, members)
                members[better[0]] = msgspec.Raw(_encode(better[1]))
        return self._decode(_encode(members))


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
    if len(members) != _most_members(line):
        names = [name for name, _ in json.loads(line, object_pairs_hook=_Pairs)]
        for name in members:
            if names.count(name) > 1:
                raise BadRow(f"the member {shown(name)} is there twice")
    return members


class _Pairs(list[tuple[str, object]]):
    """The members of an object, also those of which a later one has the name."""


def _most_members(line: bytes) -> int:
    """Return how many members an object has at most, with those in its members."""
    return line.translate(None, _BLANKS).count(_COLON)
