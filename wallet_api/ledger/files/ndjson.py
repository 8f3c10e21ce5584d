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
        self._required = sum(field.required for field in fields)
        self._optional = [field.name for field in fields if not field.required]

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
        if self._is_completed or _NUL in line:
            return self._read_members(line)
        try:
            row = self._decode(line)
        except msgspec.ValidationError:
            return self._read_members(line)
        stated = self._required + sum([getattr(row, name) is not UNSET for name in self._optional])
        if line.count(_COLON) != stated or _has_spaced_quotes(line):
            _members(line)
        return row

    def _read_members(self, line: bytes) -> RowType | BadRow:
        members = _completed(line, self._given)
        check_times(self._row_type, members)
        for _ in range(self._required + len(self._optional)):
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
