"""Rows as JSON: a shape writes them from their columns, each member by its field."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import orjson
from marshmallow import Schema, fields

from wallet_api.database import row_count

# The rows of a list: the values of each column by its name, or a mapping a row.
Table = Mapping[str, Sequence[Any]]
List = Table | Sequence[Mapping[str, Any]]
# Values as JSON, each as a text.
Written = Sequence[str]


class Member(NamedTuple):
    """How the values of a column stand in the object of their row: each text between `before` and `after`.

    In place of None stands `absent`; without it there is none.
    """

    column: str
    write: Callable[[Sequence[Any]], Written]
    before: str
    after: str
    absent: str | None


def columns_of(rows: List) -> Table:
    """Return the values of each column of the rows; None where a row lacks it."""
    if isinstance(rows, Mapping):
        return rows
    if len(rows) == 1:
        return {name: (value,) for name, value in rows[0].items()}
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def joined(lists: Iterable[List]) -> Table:
    """Return the rows of several lists, all of the same columns."""
    tables = [columns_of(rows) for rows in lists]
    # An empty one may have no columns.
    names = max(tables, key=len, default={})
    return {name: [*chain.from_iterable(table.get(name, ()) for table in tables)] for name in names}


def write_plain(values: Sequence[Any]) -> Written:
    """Return whole numbers, or true and false, as JSON."""
    # A sum of counts is a numeric in PostgreSQL, and comes as a text or a decimal.
    written = orjson.dumps(values, default=str).replace(b'"', b"")
    return written[1:-1].decode().split(",") if values else []


def write_strings(strings: Sequence[str]) -> Written:
    """Return the texts of strings without the quotes around them."""
    # Seldom has one of them a character to escape.
    if b"\\" not in orjson.dumps(strings):
        return strings
    return [orjson.dumps(string)[1:-1].decode() for string in strings]


def write_values(field: fields.Field[Any], values: Sequence[Any]) -> Iterable[str]:
    """Return values of a field, none of which is None, as JSON."""
    texts, quote = _write_of(field)(values), _quote_of(field)
    return [f"{quote}{text}{quote}" for text in texts] if quote else texts


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
        names = tuple(columns)
        members = self._members.get(names)
        if members is None:
            members = self._members[names] = self.members(names)
        # What follows each other in every row: what is the same in all rows, and what differs.
        parts: list[Iterable[str]] = []
        same, count = "{", row_count(columns) if columns else len(rows)
        if not count:
            return []
        for column, write, before, after, absent in members:
            values = columns[column]
            if absent is None or None not in values:
                parts += repeat(same + before, count), write(values)
                same = after
            elif known := [value for value in values if value is not None]:
                texts = iter(write(known))
                filled = [absent if value is None else f"{before}{next(texts)}{after}" for value in values]
                parts += repeat(same, count), filled
                same = ""
            else:
                same += absent
        if not parts:
            return [f"{same}}}"] * count
        return list(map("".join, zip(*parts, repeat(f"{same}}}", count), strict=True)))

    def write_lists(self, lists: Sequence[List]) -> list[str]:
        """Return lists of rows, all of the same columns, as JSON."""
        if len(lists) == 1:
            return [f"[{','.join(self.write(lists[0]))}]"]
        tables = [columns_of(rows) for rows in lists]
        texts = iter(self.write(joined(tables)))
        return [f"[{','.join(islice(texts, row_count(table)))}]" for table in tables]

    def columns(self, prefix: str = "") -> dict[str, fields.Field[Any]]:
        """Return all columns that a row can have, in order, with their fields. A list in it is no column."""
        columns: dict[str, fields.Field[Any]] = {}
        for name, field in self.fields.items():
            if not isinstance(field, fields.Nested):
                columns[prefix + name] = field
            elif not field.many:
                columns |= shape_of(field).columns(f"{prefix}{name}_")
        return columns

    def members(self, columns: Container[str], prefix: str = "") -> list[Member]:
        """Return the members of an object, and of objects in it, whose columns begin with the prefix."""
        members: list[Member] = []
        # Before the first member that all rows have, the comma follows.
        comma, ending = "", ","
        for name, field in self.fields.items():
            if prefix + name in columns:
                if field.required or field.allow_none:
                    ending = ""
                members.append(_member(name, prefix + name, field, comma, ending))
            elif isinstance(field, fields.Nested) and not field.many:
                inner = shape_of(field).members(columns, f"{prefix}{name}_")
                if not inner:
                    continue
                ending = ""
                members += _enclosed(f'{comma}"{name}":{{', inner, "}")
            if not ending:
                comma = ","
        if members and not comma:
            assert len(members) == 1, f"{type(self).__name__}: each of several members may be absent"
            return [members[0]._replace(after=members[0].after.removesuffix(","))]
        return members

    @cached_property
    def _members(self) -> dict[tuple[str, ...], list[Member]]:
        """The members of rows by the names of their columns."""
        return {}


def shape_of(field: fields.Field[Any]) -> Shape:
    """Return the shape of the objects of a field."""
    assert isinstance(field, fields.Nested)
    assert isinstance(field.schema, Shape)
    return field.schema


def _member(name: str, column: str, field: fields.Field[Any], comma: str, ending: str) -> Member:
    quote = _quote_of(field)
    before, after = f'{comma}"{name}":', ending
    absent = f"{before}null{after}" if field.allow_none else None if field.required else ""
    return Member(column, _write_of(field), before + quote, quote + after, absent)


def _enclosed(opening: str, members: list[Member], closing: str) -> list[Member]:
    """Return the members of an object with what stands before the first and after the last of them."""
    first, last = members[0], members[-1]
    absent = None if first.absent is None else opening + first.absent
    members = [first._replace(before=opening + first.before, absent=absent), *members[1:]]
    last = members[-1]
    absent = None if last.absent is None else last.absent + closing
    return [*members[:-1], last._replace(after=last.after + closing, absent=absent)]


def _write_of(field: fields.Field[Any]) -> Callable[[Sequence[Any]], Written]:
    write: Callable[[Sequence[Any]], Written] = getattr(field, "write", _write_any)
    return write


def _write_any(values: Sequence[Any]) -> Written:
    return [to_json(value).decode() for value in values]


def _quote_of(field: fields.Field[Any]) -> str:
    quote: str = getattr(field, "quote", "")
    return quote
