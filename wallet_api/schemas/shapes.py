"""Rows as JSON: a shape writes them from their columns, each member by its field."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from marshmallow import Schema, fields

# The rows of a list: the values of each column by its name, or a mapping a row.
Table = Mapping[str, Sequence[Any]]
List = Table | Sequence[Mapping[str, Any]]
# How values become text: a format for each of them, and what it formats.
Written = tuple[str, Iterable[Any]]


def columns_of(rows: List) -> Table:
    """Return the values of each column of the rows; None where a row lacks it."""
    if isinstance(rows, Mapping):
        return rows
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def write_texts(texts: Sequence[str]) -> Written:
    """Return how texts are written as JSON."""
    # Seldom has one of them a character to escape.
    if b"\\" not in orjson.dumps(texts):
        return '"%s"', texts
    return "%s", [orjson.dumps(text).decode() for text in texts]


def to_json(document: Any) -> bytes:
    """Return the document as JSON, with exact decimals."""
    return orjson.dumps(document, default=_exact)


def _exact(value: Any) -> Any:
    # A float between the Decimal and the JSON number would lose digits.
    assert isinstance(value, Decimal)
    return orjson.Fragment(format(value, "f"))


class Shape(Schema):
    """The base of the schemas of responses.

    A member of an object in a row is the column of both names: `profile_name` is the name of the profile.
    """

    def write(self, rows: List) -> list[str]:
        """Return the rows as JSON objects, without members that have no column, or are optional and None."""
        columns = columns_of(rows)
        form, cells = self.layout(columns, "")
        if not cells:
            return [form] * len(next(iter(columns.values()), rows))
        return list(map(form.__mod__, zip(*cells, strict=True)))

    def columns(self, prefix: str = "") -> dict[str, fields.Field[Any]]:
        """Return all columns that a row can have, in order, with their fields."""
        columns: dict[str, fields.Field[Any]] = {}
        for name, field in self.fields.items():
            if isinstance(field, fields.Nested):
                assert not field.many, f"{name}: a list is no column"
                columns |= shape_of(field).columns(f"{prefix}{name}_")
            else:
                columns[prefix + name] = field
        return columns

    def layout(self, columns: Table, prefix: str) -> tuple[str, list[Iterable[Any]]]:
        """Return the format of an object whose columns begin with the prefix, and what it formats."""
        members, cells = "", list[Iterable[Any]]()
        # Before the first member that all rows have, the comma follows.
        comma, ending = "", ","
        for name, field in self.fields.items():
            values = columns.get(prefix + name)
            if values is None:
                if isinstance(field, fields.Nested) and not field.many:
                    form, nested = shape_of(field).layout(columns, f"{prefix}{name}_")
                    if nested:
                        members += f'{comma}"{name}":{form}'
                        cells += nested
                        comma, ending = ",", ""
                continue
            member = f'{comma}"{name}":'
            known = [value for value in values if value is not None] if None in values else values
            form, written = write_values(field, known)
            if len(known) < len(values) and not field.allow_none:
                if known:
                    members += "%s"
                    cells.append(_filled(values, member + form + ending, written, ""))
                continue
            if len(known) < len(values):
                form, written = "%s", _filled(values, form, written, "null")
            members += member + form
            cells.append(written)
            comma, ending = ",", ""
        return f"{{{members}}}", cells


def shape_of(field: fields.Field[Any]) -> Shape:
    """Return the shape of the objects of a field."""
    assert isinstance(field, fields.Nested)
    assert isinstance(field.schema, Shape)
    return field.schema


def write_values(field: fields.Field[Any], values: Sequence[Any]) -> Written:
    """Return how a field writes values, none of which is None, as JSON."""
    write = getattr(field, "write", None)
    if write is None:
        return "%s", [to_json(value).decode() for value in values]
    written: Written = write(values)
    return written


def _filled(values: Sequence[Any], form: str, written: Iterable[Any], absent: str) -> list[str]:
    """Return the text of each value: of those that are None, which is `absent`, and of the others."""
    texts = map(form.__mod__, written)
    return [absent if value is None else next(texts) for value in values]
