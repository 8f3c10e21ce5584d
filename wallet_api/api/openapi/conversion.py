"""The conversion of the schemas to JSON Schema: apispec's, and the rules for the fields of schemas/."""

import inspect
from collections.abc import Iterator
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields, missing

from wallet_api.api.openapi.words import reference
from wallet_api.api.responses.examples import ARGUMENTS, argument_example
from wallet_api.api.schemas.argument_fields import Switch, Time, WholeNumber
from wallet_api.api.schemas.feed import OF_EVENTS, ChangeSchema
from wallet_api.api.schemas.fields import Amount, Moment, inner_field

# Limits and parts of windows, which are capped; others are compared with counts.
_CAPPED = frozenset(("limit", "seconds", "minutes", "hours"))


class _Converter(OpenAPIConverter):
    has_strings = False

    def init_attribute_functions(self) -> None:
        super().init_attribute_functions()  # type: ignore[no-untyped-call]
        self.attribute_functions += (_field_rules, self._amount_rules)

    def _amount_rules(self, field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
        if not (self.has_strings and isinstance(field, Amount)):
            return {}
        ret.pop("format", None)
        return {"type": ["string", "null"] if field.allow_none else "string"}

    def schema2jsonschema(self, schema: type[Schema] | Schema) -> dict[str, Any]:
        shape: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        kind = schema if isinstance(schema, type) else type(schema)
        shape["description"] = inspect.getdoc(kind)
        constants = {name for name, rules in shape["properties"].items() if "const" in rules}
        shape["required"] = sorted(constants.union(shape.get("required", ())))
        # Responses may get new fields, which a caller must accept.
        shape.pop("additionalProperties", None)
        return shape

    def field2property(self, field: fields.Field[Any]) -> dict[str, Any]:
        rules: dict[str, Any] = super().field2property(field)
        name = reference(rules.get("enum", ()))
        if name is None:
            return rules
        # A default beside a reference makes generators forget the type.
        default = f" `{rules['default']}` by default." if "default" in rules else ""
        return {"$ref": name, "description": rules["description"] + default}

    def resolve_nested_schema(self, schema: Any) -> dict[str, Any]:
        if not isinstance(schema, ChangeSchema):
            return super().resolve_nested_schema(schema)  # type: ignore[no-untyped-call, no-any-return]
        if "Change" not in self.spec.components.schemas:
            self.spec.components.schema("Change", self._change())
        change = {"$ref": "#/components/schemas/Change"}
        row = {"anyOf": [change, super().resolve_nested_schema(schema.trade())]}  # type: ignore[no-untyped-call]
        return {"type": "array", "items": row} if schema.many else row

    def _change(self) -> dict[str, Any]:
        kinds: dict[str, dict[str, Any]] = {
            event: super(_Converter, self).resolve_nested_schema(kind())  # type: ignore[no-untyped-call]
            for event, kind in OF_EVENTS.items()
        }
        return {
            "description": inspect.getdoc(ChangeSchema),
            "oneOf": list({kind["$ref"]: kind for kind in kinds.values()}.values()),
            "discriminator": {
                "propertyName": "event",
                "mapping": {event: kind["$ref"] for event, kind in kinds.items()},
            },
        }

    def _field2parameter(self, field: fields.Field[Any], *, name: str, location: str) -> dict[str, Any]:
        parameter: dict[str, Any] = super()._field2parameter(field, name=name, location=location)
        if not field.required:
            # An empty value is an absent one.
            parameter["allowEmptyValue"] = True
        # The page at /docs sends an example, also that of an argument that is optional.
        if name in ARGUMENTS and field.required:
            parameter["example"] = argument_example(name, getattr(field, "allowed", ()))
        if getattr(field, "unless", None):
            parameter["required"] = False
        if isinstance(field, WholeNumber) and "maximum" not in parameter["schema"] and name in _CAPPED:
            # Of any length: a larger one than of 64 bits is accepted. None needs more than 32 bits.
            del parameter["schema"]["format"]
        if self.has_strings and name == "amounts":
            # A client of this document has to request what it describes.
            parameter |= {"required": True, "schema": {"type": "string", "const": "string"}}
            del parameter["allowEmptyValue"]
        return parameter


class SchemaPlugin(MarshmallowPlugin):
    """apispec's plugin, which also converts the project's fields, and names WalletsSchema `Wallets`."""

    Converter = _Converter

    def __init__(self, amounts: str = "number") -> None:
        super().__init__(schema_name_resolver=_name)
        self._has_strings = amounts == "string"

    def init_spec(self, spec: APISpec) -> None:
        """Let the amounts in the documents of this plugin be strings, if they are to be."""
        super().init_spec(spec)
        assert isinstance(self.converter, _Converter)
        self.converter.has_strings = self._has_strings


def _name(schema: type[Schema] | Schema) -> str:
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def undescribed(schema: Schema) -> Iterator[str]:
    """Yield the names of the fields of a schema, and of those within, that have no description."""
    for name, field in schema.fields.items():
        if not field.metadata.get("description"):
            yield f"{type(schema).__name__}.{name}"
        part = inner_field(field)
        if isinstance(part, fields.Nested):
            yield from undescribed(part.schema)


def _field_rules(field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
    if isinstance(field, Switch):
        del ret["enum"]
        known = {} if field.load_default is missing else {"default": field.load_default == "true"}
        return {"type": "boolean", **known}
    if len(ret.get("enum", ())) == 1:
        return {"const": ret.pop("enum")[0]}
    if isinstance(field, Moment | Time):
        return {"format": "date-time"}
    if isinstance(field, fields.Constant):
        ret.pop("default", None)
        return {"const": field.constant}
    # Without a format, generators choose numbers of 32 bits.
    if isinstance(field, fields.Integer):
        return {"format": "int64"}
    if isinstance(field, fields.Decimal | fields.Float):
        return {"format": "double"}
    return {}
