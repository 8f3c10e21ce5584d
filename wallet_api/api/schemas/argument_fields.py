"""The fields of the schemas of arguments, each with its description."""

import re
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields, missing
from marshmallow.validate import OneOf, Range

from wallet_api.api.schemas.fields import Described
from wallet_api.base.chains import ALL_TYPES, WALLET_TYPES
from wallet_api.base.times import is_time, read_time

# The descriptions of the same arguments in several schemas.
ROWS = "Rows in a response, at most 1000."
TYPE = "The category of the wallets; any by default."
SORTED = (
    "The figure to sort by: unknown ones come last, and a row whose figure changes between pages may repeat"
    " or be missed."
)
GROUP_TYPE = "The category of the wallets, or `all`."
GROUP_TYPES: tuple[str, ...] = (*WALLET_TYPES, ALL_TYPES)

MAX_TEXT = 128
MAX_TEXTS = 100
_LARGEST = 10**18
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


class Choice(Described, fields.String):
    """An argument that is one word of a fixed set; if it is required, not beside an argument of `unless`."""

    def __init__(
        self, allowed: tuple[str, ...], description: str, unless: tuple[str, ...] = (), **options: Any
    ) -> None:
        super().__init__(description, validate=OneOf(allowed), **options)
        self.allowed = allowed
        self.unless = unless


class Switch(Choice):
    """An argument that is `true` or `false`."""

    def __init__(self, description: str, **options: Any) -> None:
        super().__init__(("true", "false"), description, **options)

    def deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        """Return the argument as a bool; `missing` if it is absent."""
        word = super().deserialize(value, *arguments, **options)
        return word if word is missing else word == "true"


class Time(Described, fields.String):
    """An argument that is an ISO 8601 time, in UTC if it has no offset."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return read_time(value)
        except ValueError:
            hint = ""
            # A plus sign in a URL is a space.
            time, _, offset = value.rpartition(" ")
            if ":" in time and is_time(time) and re.fullmatch(r"[0-9:]+", offset):
                hint = "; the + of an offset is written %2B in a URL"
            raise ValidationError(f"must be an ISO 8601 time, such as 2026-01-30T12:51:16Z{hint}") from None


class WholeNumber(Described, fields.Integer):
    """An argument that is a whole number of at least `minimum`, and at most `most`, in plain digits."""

    def __init__(self, minimum: int, description: str, most: int | None = None, **options: Any) -> None:
        allowed = f"must be a whole number of at least {minimum}"
        if most is not None:
            allowed = f"must be a whole number from {minimum} to {most}"
        super().__init__(
            description,
            validate=Range(min=minimum, max=most, error=allowed),
            error_messages={"invalid": allowed},
            **options,
        )

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> int:
        if not (isinstance(value, str) and value.isascii() and value.isdecimal()):
            raise self.make_error("invalid")
        # More than any number of rows or seconds, and within the range of bigint.
        digits = value.lstrip("0") or "0"
        return int(digits) if len(digits) <= 18 else _LARGEST


class Number(Described, fields.Decimal):
    """An argument that is a decimal number of at least 0 or above it, at most `most`, in plain digits."""

    def __init__(
        self, description: str, *, above_zero: bool = False, most: int | None = None, **options: Any
    ) -> None:
        least = "above 0" if above_zero else "of at least 0"
        allowed = f"must be a decimal number {least}, such as 2 or 0.25"
        if most is not None:
            allowed = f"must be a decimal number {least} and at most {most}, such as 2 or 0.25"
        super().__init__(description, error_messages={"invalid": allowed}, **options)
        self.above_zero = above_zero
        self.most = most

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Decimal:
        # Not longer than any amount in the ledger.
        if not _NUMBER.fullmatch(value) or len(value) > MAX_TEXT:
            raise self.make_error("invalid")
        number = Decimal(value)
        if (self.above_zero and not number) or (self.most is not None and number > self.most):
            raise self.make_error("invalid")
        return number


class FreeText(Described, fields.String):
    """An argument that is a text."""


class Texts(Described, fields.String):
    """An argument that is one text or several, separated by commas; among addresses also these words."""

    def __init__(self, description: str, words: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(description, **options)
        self.words = words

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        texts = tuple(super()._deserialize(value, *arguments, **options).split(","))
        if len(texts) > MAX_TEXTS or "" in texts:
            raise ValidationError(f"must be 1 to {MAX_TEXTS} values, separated by commas, none of them empty")
        return texts


class Line(Described, fields.String):
    """An argument that is a text of 1 to `most` characters, one of which is visible."""

    def __init__(self, most: int, description: str, **options: Any) -> None:
        super().__init__(description, **options)
        self.most = most

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> str:
        text = str(super()._deserialize(value, *arguments, **options))
        if not text.strip() or len(text) > self.most or "\0" in text:
            raise ValidationError(f"must be 1 to {self.most} characters, not all of them blank")
        return text
