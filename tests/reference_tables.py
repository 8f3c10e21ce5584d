"""The tables of arguments and fields of docs/reference.md, from the schemas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from marshmallow import Schema, fields

from wallet_api.schemas.arguments import GroupArguments
from wallet_api.schemas.calendar import DaySchema, MonthSchema
from wallet_api.schemas.envelope import ErrorDetailSchema, MetaSchema
from wallet_api.schemas.feed import (
    HoldingSchema,
    TokenSchema,
    TradeSchema,
)
from wallet_api.schemas.fields import Moment, Strings, Time, WholeNumber
from wallet_api.schemas.leaderboard import PeriodDistributionSchema
from wallet_api.schemas.lookup import LookedUpSchema
from wallet_api.schemas.tokens import TotalHoldersSchema
from wallet_api.schemas.tracker import TokenRowSchema
from wallet_api.schemas.wallets import PaginationSchema, ProfileSchema

# The objects of several operations, each described once; bases and subclasses by their difference from it.
OBJECTS: dict[str, type[Schema]] = {
    "Profile": ProfileSchema,
    "Trade": TradeSchema,
    "Token": TokenSchema,
    "Holding": HoldingSchema,
    "Holders": TotalHoldersSchema,
    "Token in a period": TokenRowSchema,
    "Win rate distribution": PeriodDistributionSchema,
    "Day": DaySchema,
    "Month": MonthSchema,
    "Address": LookedUpSchema,
    "Pagination": PaginationSchema,
    "Meta": MetaSchema,
    "Error": ErrorDetailSchema,
}
# The first of which a field is an instance.
_TYPES: tuple[tuple[type[fields.Field[Any]], str], ...] = (
    (Moment, "time"),
    (Time, "time"),
    (fields.Integer, "integer"),
    (fields.Decimal, "number"),
    (fields.Boolean, "boolean"),
    (Strings, "list of strings"),
    (fields.List, "list"),
    (fields.Dict, "object"),
    (fields.String, "string"),
)


def arguments_table(schema: Schema) -> str:
    """Return the table of the arguments of an operation."""
    rows = groupby(_arguments(schema), key=lambda row: row[1:])
    return table(
        ("argument", "values", "default", "meaning"),
        ((", ".join(f"`{row[0]}`" for row in same), *rest) for rest, same in rows),
    )


def _arguments(schema: Schema) -> Iterator[tuple[str, str, str, str]]:
    group = (
        ("blockchain", "type")
        if isinstance(schema, GroupArguments) and schema.fields["type"].required
        else ()
    )
    for name, field in schema.fields.items():
        default = "required" if field.required else ""
        if isinstance(field.load_default, str | int):
            default = f"`{field.load_default}`"
        if name in group:
            yield name, "a [group](#requests)", default, "The chain and the category of the wallets"
        else:
            yield name, _values(field), default, _meaning(field)


def _values(field: fields.Field[Any]) -> str:
    allowed = getattr(field, "allowed", None)
    if allowed:
        return ", ".join(f"`{word}`" for word in allowed)
    return f"{_type(field)} from {field.validate.min}" if isinstance(field, WholeNumber) else _type(field)


def fields_table(schema: type[Schema]) -> str:
    """Return the table of the fields of an object.

    Neighbours share a row if they mean the same, or if the meaning of the second begins with "The same".
    """
    rows: list[list[str]] = []
    for within, name, kind, meaning in _rows(schema().fields):
        continues = rows != [] and rows[-1][:2] == [within, kind]
        if continues and (meaning == rows[-1][3] or meaning.startswith("The same")):
            rows[-1][2] += f", `{name}`"
            rows[-1][3] += "" if meaning == rows[-1][3] else f". {meaning}"
        else:
            rows.append([within, kind, f"`{within}{name}`", meaning])
    return table(("field", "type", "meaning"), ((names, kind, meaning) for _, kind, names, meaning in rows))


def _rows(members: Mapping[str, fields.Field[Any]], within: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield place, name, type and meaning of each field, and of those within, if they are not in OBJECTS."""
    for name, field in sorted(members.items(), key=lambda member: _is_null(member[1])):
        yield within, name, _type(field), _meaning(field)
        if isinstance(field, fields.Nested):
            title = title_of(field.schema)
            known = OBJECTS[title]().fields if title else {}
            more = {name: part for name, part in field.schema.fields.items() if name not in known}
            yield from _rows(more, f"{name}{'[]' if field.many else ''}.")


def _type(field: fields.Field[Any]) -> str:
    if _is_null(field):
        return "null"
    if "enum" in field.metadata:
        return ", ".join(f"`{word}`" for word in field.metadata["enum"])
    if isinstance(field, fields.Nested):
        kind = _link(field.schema)
        return f"list of {kind or 'objects'}" if field.many else kind or "object"
    return next(name for kind, name in _TYPES if isinstance(field, kind))


def _is_null(field: fields.Field[Any]) -> bool:
    return _meaning(field).startswith("Always null")


def _link(schema: Schema) -> str:
    title = title_of(schema)
    if title is None:
        return ""
    lacking = [f"`{name}`" for name in OBJECTS[title]().fields if name not in schema.fields]
    return f"[{title}](#{anchor(title)})" + (f" without {', '.join(lacking)}" if lacking else "")


def title_of(schema: Schema) -> str | None:
    """Return the title in OBJECTS of a schema, its base or its subclass; None if there is none."""
    kind = type(schema)
    found = (title for title, known in OBJECTS.items() if issubclass(kind, known) or issubclass(known, kind))
    return next(found, None)


def _meaning(field: fields.Field[Any]) -> str:
    return str(field.metadata["description"]).removesuffix(".")


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])
