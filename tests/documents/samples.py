"""The samples of docs/reference.md: a request of an operation, and its first example as the response."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from marshmallow import Schema, fields

from tests.documents.fields import OBJECTS, title_of
from wallet_api.api.responses.examples import argument_example
from wallet_api.api.responses.operation import Operation

_WIDTH = 120
# Stands for the fields of an object that are described and shown elsewhere.
_OTHERS = "…"
# The document says of all responses what these are.
_WARNINGS = "warnings"


def sample(path: str, operation: Operation, shown: dict[str, Any]) -> str:
    """Return a request, and the data of the response to it.

    Objects whose titles are in `shown` are left out; those of this sample are added, by their titles.
    """
    query = {
        name: 1 if name == "limit" else argument_example(name, getattr(field, "allowed", ()))
        for name, field in operation.arguments.fields.items()
        if field.required or name in ("type", "limit")
    }
    url = f"{path}?{urlencode(query)}" if query else path
    data = _shortened(next(iter(operation.shown_examples.values())), operation.data, shown)
    json_lines = _json(data, 1, 0)
    if operation.top_level:
        # What stands beside the data is shown too.
        json_lines = f'{{"data": {_json(data, 2, 9)},\n "{operation.top_level}": {{…}}, "meta": {{…}}}}'
    return "\n".join([f"`GET {url}`", "```json", json_lines, "```"])


def _shortened(data: Mapping[str, Any], schema: Schema, shown: dict[str, Any]) -> dict[str, Any]:
    """Return the data with one row of each list, without what is described and shown elsewhere."""
    short: dict[str, Any] = {}
    for name, value in data.items():
        if name == _WARNINGS:
            continue
        field = schema.fields[name]
        if isinstance(field, fields.Nested) and value:
            title = title_of(field.schema)
            first, *more = value if field.many else [value]
            known = OBJECTS[title]().fields if title in shown else {}
            beyond = {name: part for name, part in first.items() if name not in known}
            part: Any = _shortened(beyond, field.schema, shown)
            if known:
                part = {_OTHERS: _OTHERS, **part} if beyond else "{…}"
            if title:
                shown.setdefault(title, first)
            value = [part, *["…"][: len(more)]] if field.many else part
        short[name] = value
    return short


def _json(value: Any, indent: int, before: int) -> str:
    """Return JSON in lines that are filled, of which the first has `before` characters already."""
    if isinstance(value, float):
        # As in responses, without an exponent.
        return f"{Decimal(str(value)):f}"
    if isinstance(value, dict):
        shape = "{%s}"
        parts = []
        for name, part in value.items():
            start = indent if parts else before + 1
            if name == _OTHERS:
                parts.append(_OTHERS)
                continue
            parts.append(f'"{name}": {_json(part, indent + 1, start + len(name) + 4)}')
    elif isinstance(value, list):
        shape = "[%s]"
        parts = [_json(part, indent + 1, before + 1) for part in value]
    else:
        return value if value in ("…", "{…}") else json.dumps(value, ensure_ascii=False)
    lines: list[str] = []
    width = before + 1
    for part in parts:
        if lines and width + len(part) < _WIDTH and "\n" not in lines[-1] + part:
            lines[-1] += f", {part}"
        else:
            width = indent if lines else width
            lines.append(part)
        width += len(part) + 2
    return shape % f",\n{' ' * indent}".join(lines)
