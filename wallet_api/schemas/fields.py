"""What several schemas share: fields that refuse by name what they do not allow, and the base of answers."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from marshmallow import Schema, ValidationError, fields


class Choice(fields.String):
    """One word of a fixed set; the refusal tells the set."""

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
        # Nobody has more rows or seconds than that, and PostgreSQL takes no larger number.
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
    """A figure: an exact decimal, answered as a JSON number, rounded already."""


class Rows(fields.Nested):
    """One row or many that SQL may have written as JSON already: then they are passed on as they are."""

    def serialize(
        self, attr: str, obj: Mapping[str, Any], accessor: Callable[..., Any] | None = None, **kwargs: Any
    ) -> Any:
        """What is at `attr` in `obj`."""
        rows = obj[attr]
        first = rows[0] if isinstance(rows, list) and rows else rows
        if isinstance(first, orjson.Fragment):
            return rows
        return super().serialize(attr, obj, accessor, **kwargs)


class Shape(Schema):
    """The base of what is answered, which is made of dictionaries, by the names of the fields."""

    def get_attribute(self, obj: Mapping[str, Any], attr: str, default: Any) -> Any:
        """What is at `attr`, without a search for attributes and paths, which takes as long as all else."""
        return obj.get(attr, default)
