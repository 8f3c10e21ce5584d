"""Loaded arguments, as views give them to queries."""

from functools import cache
from typing import Any

from wallet_api.api.schemas.arguments import Arguments


def loaded(schema: type[Arguments], **given: Any) -> dict[str, Any]:
    """Return the defaults of a schema with what is given; None stands for an absent argument."""
    return _defaults(schema) | {name: value for name, value in given.items() if value is not None}


def in_period(group: tuple[str, str], period: Any) -> dict[str, Any]:
    """Return the arguments of a board."""
    return {"blockchain": group[0], "type": group[1], "period": period}


@cache
def _defaults(schema: type[Arguments]) -> dict[str, Any]:
    arguments = schema()
    required = [name for name, field in arguments.fields.items() if field.required]
    return dict(arguments.load({}, partial=required))
