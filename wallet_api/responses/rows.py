"""The rows of a response alone, flat, as CSV or NDJSON: what tables and data frames read."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

import msgspec
from marshmallow import Schema, fields

from wallet_api.responses.envelope import to_json

# The values of the argument `format`, and what they are called in HTTP.
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}
# A spreadsheet runs a cell that begins so: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NULL = msgspec.Raw(b"null")


class Listing:
    """The rows of an operation: the list `member` of the data of `schema`.

    Columns are the fields of a row in the order of its schema, those of an object within it by both names.
    """

    def __init__(self, schema: Schema, member: str) -> None:
        nested = schema.fields[member]
        assert isinstance(nested, fields.Nested)
        self._member = member
        self._rows: Any = list[_struct(nested.schema)]  # type: ignore[misc]
        paths = list(_paths(nested.schema))
        self.columns = [path.replace(".", "_") for path in paths]
        self._cells = attrgetter(*paths)

    def write(self, data: Mapping[str, Any], format: str) -> bytes:
        """Return the rows in `data`, in one of these formats, with numbers as they are in JSON."""
        # Numbers and texts stay as they are written.
        rows = map(self._cells, msgspec.json.decode(to_json(data[self._member]), type=self._rows))
        return _WRITERS[format](self.columns, rows)


def _struct(schema: Schema) -> type[msgspec.Struct]:
    members: list[tuple[str, Any, Any]] = []
    for name, field in schema.fields.items():
        if isinstance(field, fields.Nested):
            kind = _struct(field.schema)
            members.append((name, kind, kind()))
        else:
            members.append((name, msgspec.Raw, _NULL))
    return msgspec.defstruct("Row", members, frozen=True, gc=False)


def _paths(schema: Schema) -> Iterator[str]:
    for name, field in schema.fields.items():
        if isinstance(field, fields.Nested):
            assert not field.many, f"{name}: a list is no column"
            yield from (f"{name}.{path}" for path in _paths(field.schema))
        else:
            yield name


Cells = tuple[msgspec.Raw, ...]


def _write_csv(columns: list[str], rows: Iterator[Cells]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue().encode()


def _cell(raw: msgspec.Raw) -> str:
    written = bytes(raw)
    if written.startswith(b'"'):
        text: str = msgspec.json.decode(raw)
        return f"'{text}" if text.startswith(_FORMULAS) else text
    return "" if written == b"null" else written.decode()


def _write_ndjson(columns: list[str], rows: Iterator[Cells]) -> bytes:
    names = [b'"%b":' % name.encode() for name in columns]
    return b"".join(
        b"{%b}\n" % b",".join(name + bytes(cell) for name, cell in zip(names, row, strict=True))
        for row in rows
    )


_WRITERS: dict[str, Callable[[list[str], Iterator[Cells]], bytes]] = {
    "csv": _write_csv,
    "ndjson": _write_ndjson,
}
