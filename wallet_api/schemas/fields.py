"""Fields that several schemas share, and the base of the schemas of responses."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from marshmallow import Schema, ValidationError, fields, missing


class Choice(fields.String):
    """One word of a fixed set, which the error lists."""

    def __init__(self, allowed: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.allowed = allowed

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text not in self.allowed:
            raise ValidationError({"allowed": list(self.allowed)})
        return text


class Switch(Choice):
    """`true` or `false`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(("true", "false"), **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return super()._deserialize(value, *args, **kwargs) == "true"


class Moment(fields.String):
    """An ISO 8601 time; an argument without an offset is in UTC."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            moment = datetime.fromisoformat(super()._deserialize(value, *args, **kwargs))
            return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        # The second is of times whose UTC is before the year 1 or after 9999.
        except (ValueError, OverflowError):
            raise ValidationError("must be an ISO 8601 time, such as 2026-01-30T12:51:16Z") from None


_LARGEST = 10**18


class WholeNumber(fields.Integer):
    """A whole number in plain digits, no sign and no spaces, of at least `minimum`."""

    def __init__(self, minimum: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.minimum = minimum

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> int:
        if not (isinstance(value, str) and value.isascii() and value.isdecimal()):
            raise ValidationError(self._allowed)
        # More than any number of rows or seconds, and within the range of bigint.
        digits = value.lstrip("0") or "0"
        number = int(digits) if len(digits) <= 18 else _LARGEST
        if number < self.minimum:
            raise ValidationError(self._allowed)
        return number

    @property
    def _allowed(self) -> str:
        return f"must be a whole number of at least {self.minimum}"


class Text(fields.String):
    """A text of bounded length that PostgreSQL can hold."""

    def __init__(self, longest: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.longest = longest

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text) > self.longest or "\0" in text:
            raise ValidationError(f"must be at most {self.longest} characters, none of them NUL")
        return text


class Amount(fields.Decimal):
    """An exact decimal, rounded by the query, that becomes a JSON number."""


class Rows(fields.Nested):
    """One row or many. Finished JSON from a query is passed on unchanged."""

    def serialize(
        self, attr: str, obj: Mapping[str, Any], accessor: Callable[..., Any] | None = None, **kwargs: Any
    ) -> Any:
        """Return the value at `attr` in `obj`, if there is one."""
        if attr not in obj:
            return missing
        rows = obj[attr]
        first = rows[0] if isinstance(rows, list) and rows else rows
        if isinstance(first, orjson.Fragment):
            return rows
        return super().serialize(attr, obj, accessor, **kwargs)


class Shape(Schema):
    """The base of the schemas of responses, which serialize dictionaries."""

    def get_attribute(self, obj: Mapping[str, Any], attr: str, default: Any) -> Any:
        """Return the value at `attr`, without marshmallow's search for attributes and paths."""
        return obj.get(attr, default)
