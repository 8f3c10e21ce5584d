"""The fields that several arguments share, each refusing what it does not allow by name."""

from collections.abc import Mapping
from typing import Any

import orjson
from marshmallow import ValidationError, fields


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

    def _serialize(  # type: ignore[override]
        self, nested_obj: Any, attr: str | None, obj: Any, **kwargs: Any
    ) -> Any:
        first = nested_obj[0] if isinstance(nested_obj, list) and nested_obj else nested_obj
        if isinstance(first, orjson.Fragment):
            return nested_obj
        return super()._serialize(nested_obj, attr, obj, **kwargs)  # type: ignore[no-untyped-call]
