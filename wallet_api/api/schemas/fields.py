"""The fields of the schemas of responses, each with its description."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from marshmallow import Schema, fields

from wallet_api.api.schemas.shapes import Shape, Written, shape_of, write_plain, write_strings, write_values


class Described(fields.Field[Any]):
    """A field with the description that the OpenAPI document shows."""

    def __init__(
        self, description: str, *, metadata: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        super().__init__(metadata={"description": description, **(metadata or {})}, **options)


class _Member(Described):
    """A field of a response: always present unless `optional`, never null unless `nullable`."""

    def __init__(
        self, description: str, *, optional: bool = False, nullable: bool = False, **options: Any
    ) -> None:
        super().__init__(description, required=not optional, allow_none=nullable, **options)


class String(_Member, fields.String):
    """A text, or one of `enum`."""

    quote = '"'
    write = staticmethod(write_strings)

    def __init__(
        self,
        description: str,
        *,
        enum: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        words = {"enum": list(enum)} if enum else {}
        super().__init__(description, metadata={**words, **(metadata or {})}, **options)


class Strings(_Member, fields.List[Any]):
    """A list of texts."""

    def __init__(self, description: str, **options: Any) -> None:
        super().__init__(description, cls_or_instance=fields.String(), **options)


class Moment(String):
    """A time of UTC, ISO 8601 with Z."""


class Integer(_Member, fields.Integer):
    """A whole number."""

    write = staticmethod(write_plain)


class Boolean(_Member, fields.Boolean):
    """True or false."""

    write = staticmethod(write_plain)


class Measure(_Member, fields.Decimal):
    """A percentage, a ratio or a length of time: an exact decimal, rounded by the query, as a JSON number.

    PostgreSQL writes it as a text.
    """

    def write(self, amounts: Sequence[Any]) -> Written:
        """Return the decimals as JSON, with all their digits."""
        try:
            # Those of PostgreSQL are texts, which are joined sooner than their types are compared.
            "".join(amounts)
        except TypeError:
            return [f"{amount:f}" if isinstance(amount, Decimal) else str(amount) for amount in amounts]
        return amounts


class Amount(Measure):
    """An amount, a price or a value: a JSON number, or a string in a shape with strings."""

    quote = ""


class AmountList(_Member, fields.List[Any]):
    """A list of amounts."""

    def __init__(self, description: str, **options: Any) -> None:
        super().__init__(description, cls_or_instance=Amount(description), **options)

    def write(self, lists: Sequence[Sequence[Any]]) -> Written:
        """Return the lists as JSON."""
        return [f"[{','.join(write_values(self.inner, amounts))}]" for amounts in lists]


class ByName(_Member, fields.Dict):
    """An object whose members all have such values."""

    def __init__(self, values: fields.Field[Any], description: str, **options: Any) -> None:
        super().__init__(description, keys=fields.String(), values=values, **options)

    def write(self, values: Sequence[Mapping[str, Any]]) -> Written:
        """Return such objects as JSON."""
        return [self._written(value) for value in values]

    def _written(self, value: Mapping[str, Any]) -> str:
        assert self.value_field is not None
        texts = write_values(self.value_field, list(value.values()))
        members = [f'"{name}":{text}' for name, text in zip(value, texts, strict=True)]
        return f"{{{','.join(members)}}}"


class Rows(_Member, fields.Nested):
    """An object or, with `many`, a list of them."""

    def __init__(self, schema: type[Schema], description: str, **options: Any) -> None:
        super().__init__(description, nested=schema, **options)

    def write(self, values: Sequence[Any]) -> Written:
        """Return objects, or lists of them, as JSON."""
        shape = shape_of(self)
        return shape.write_lists(values) if self.many else shape.write(values)


class WrittenRows(Rows):
    """A list of objects, of which those that are bytes are JSON already."""

    def write(self, values: Sequence[Sequence[bytes | Mapping[str, Any]]]) -> Written:
        """Return such lists as JSON."""
        opened = [row for rows in values for row in rows if not isinstance(row, bytes)]
        written = iter(shape_of(self).write(opened))
        return [
            f"[{','.join(row.decode() if isinstance(row, bytes) else next(written) for row in rows)}]"
            for rows in values
        ]


def inner_field(field: fields.Field[Any]) -> fields.Field[Any]:
    """Return the field of what is in a list or an object by name; of any other the field itself."""
    if isinstance(field, fields.List):
        return inner_field(field.inner)
    inner = field.value_field if isinstance(field, fields.Dict) else None
    return field if inner is None else inner_field(inner)


def with_strings(shape: Shape) -> Shape:
    """Return a new shape of this kind that writes amounts as strings, also in the objects within."""
    new = type(shape)()
    _quote_amounts(new)
    return new


def _quote_amounts(schema: Schema) -> None:
    for field in schema.fields.values():
        part = inner_field(field)
        if isinstance(part, fields.Nested):
            _quote_amounts(part.schema)
        elif isinstance(part, Amount):
            part.quote = '"'
