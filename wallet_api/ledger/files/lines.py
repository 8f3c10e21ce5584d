"""The lines of a file, limited in length so that none can fill the memory, and the faults of their rows."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any, BinaryIO, Literal, get_args, get_origin, get_type_hints

import msgspec

from wallet_api.base.forms import TIME_FORM, BadRow, listed_word, must_be, one_of, shown
from wallet_api.base.times import read_stamp
from wallet_api.ledger.files.file_options import NOTHING, Given, remedy_for
from wallet_api.ledger.files.rows import RowType

MAX_LINE_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# A line number, the line as it was read, and the row or its fault.
Record = tuple[int, bytes, RowType | BadRow]
# Called with the line number, the line, and its fault.
Reject = Callable[[int, bytes, BadRow], None]
Warn = Callable[[str], None]

# The end of msgspec's messages: "Expected `str`, got `int` - at `$.mint`".
_AT_FIELD = re.compile(r"(.*) - at `\$\.(\w+).*`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_UNIX_TIME = re.compile(r'"?[0-9]{9,14}"?', re.ASCII)
# Limits the warnings about a file with many unknown names.
_MAX_WARNINGS = 20


class BadContent(Exception):
    """A file has no rows that can be read: its header or its list is another. The message is the reason."""


def bounded_lines(file: BinaryIO, check: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """Yield the lines of a file, without the byte order mark that some editors put before the first.

    Of a line longer than MAX_LINE_BYTES, yield only its first MAX_LINE_BYTES + 1. Call `check` for each line.
    """
    mark = BYTE_ORDER_MARK
    while line := file.readline(MAX_LINE_BYTES + 1):
        check()
        yield line.removeprefix(mark)
        mark = b""
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)


def unreadable(error: Exception) -> BadRow:
    """Return the fault of a line that a parser cannot read."""
    return BadRow("the line cannot be read", f": {error}")


def too_long() -> BadRow:
    """Return the fault of a line longer than MAX_LINE_BYTES."""
    return BadRow(f"the line is longer than {MAX_LINE_BYTES} bytes")


def row_fault(
    error: msgspec.ValidationError, row_type: type[msgspec.Struct], given: Mapping[str, object]
) -> BadRow:
    """Return the fault that msgspec found in the given values: the field, what is allowed, and the value."""
    found = _AT_FIELD.fullmatch(str(error))
    if found is None:
        missing = _MISSING.fullmatch(str(error))
        return BadRow(f"{error}; {remedy_for(missing[1])}" if missing else str(error))
    rule, field = found.groups()
    kind = _kinds(row_type)[field]
    # msgspec does not name what is allowed for these two.
    if get_origin(kind) is Literal:
        return must_be(field, one_of(get_args(kind)), given[field])
    if kind is datetime:
        is_unix = _UNIX_TIME.fullmatch(shown(given[field])) is not None
        return must_be(field, TIME_FORM, given[field], "; --timestamps epoch reads Unix times" * is_unix)
    return BadRow(f"{field}: {rule}", f" ({shown(given[field])})")


# Cached, since it takes several times as long as reading a row.
@cache
def _kinds(row_type: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(row_type)


def mended(
    error: msgspec.ValidationError, row_type: type[msgspec.Struct], given: Mapping[str, object]
) -> tuple[str, object] | None:
    """Return the field and the value that msgspec refused, as it is meant; None for any other error.

    A time is read by read_stamp(), a word of a list in any case.
    """
    found = _AT_FIELD.fullmatch(str(error))
    if found is None:
        return None
    field, kind = found[2], _kinds(row_type)[found[2]]
    with suppress(ValueError, msgspec.DecodeError):
        text = _text(given[field])
        if text is not None and kind is datetime:
            return field, read_stamp(text)
        if text is not None and get_origin(kind) is Literal and (word := listed_word(text, get_args(kind))):
            return field, word
    return None


def check_times(row_type: type[msgspec.Struct], given: Mapping[str, object]) -> None:
    """Raise BadRow if a time contains a NUL, after which msgspec ignores the rest."""
    for field, kind in _kinds(row_type).items():
        if kind is datetime and field in given and "\0" in (_text(given[field]) or ""):
            raise BadRow(f"{field} contains a NUL character", f": {shown(_text(given[field]))}")


def _text(value: object) -> str | None:
    """Return a value of CSV or JSON that is a text."""
    if isinstance(value, msgspec.Raw):
        value = msgspec.json.decode(value)
    return value if isinstance(value, str) else None


def unknown_names(
    row_type: type[msgspec.Struct], kind: str, warn: Warn, given: Given = NOTHING
) -> Callable[[Iterable[str]], None]:
    """Return a function that warns once of each name that is not that of a field of the row."""
    known = {given.name_of(field) for field in row_type.__struct_fields__}
    most = len(known) + _MAX_WARNINGS

    def check(names: Iterable[str]) -> None:
        for name in names:
            if name not in known and len(known) < most:
                known.add(name)
                warn(f"the {kind} {shown(name)} is unknown and ignored")

    return check
