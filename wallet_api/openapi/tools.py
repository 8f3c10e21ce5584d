"""The tools of MCP, one for each operation of the OpenAPI document, with the definitions that it needs."""

from collections.abc import Iterator, Mapping
from typing import Any

from wallet_api.openapi.definitions import OF_FIELDS
from wallet_api.schemas.arguments import OF_FORM


def tools(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools, in the order of the document.

    Results are JSON with exact numbers, so that none has `format` or `amounts`.
    """
    schemas = document["components"]["schemas"]
    return [_tool(item["get"], schemas) for item in document["paths"].values()]


def _tool(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    content = operation["responses"]["200"]["content"]["application/json"]
    fields = set(_fields(content["schema"], schemas, set()))
    definitions = [sentence for field, sentence in OF_FIELDS.items() if field in fields]
    parameters = [
        parameter
        for parameter in operation["parameters"]
        if parameter["in"] == "query" and parameter["name"] not in OF_FORM
    ]
    return {
        "name": operation["operationId"],
        "title": operation["summary"],
        "description": " ".join([operation["description"], *definitions]),
        "inputSchema": {
            "type": "object",
            "properties": {parameter["name"]: _property(parameter, schemas) for parameter in parameters},
            "required": [parameter["name"] for parameter in parameters if parameter.get("required")],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _property(parameter: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument, without a reference to another document."""
    schema = dict(parameter["schema"])
    named = schemas[_name(schema.pop("$ref"))] if "$ref" in schema else {}
    words = {name: value for name, value in named.items() if not name.startswith("x-")}
    return words | schema | {"description": parameter["description"]}


def _fields(node: Any, schemas: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Yield the names of the fields of a schema, and of those that it refers to."""
    if isinstance(node, dict):
        yield from node.get("properties", ())
        name = _name(node.get("$ref", ""))
        if name in schemas and name not in seen:
            seen.add(name)
            yield from _fields(schemas[name], schemas, seen)
        for value in node.values():
            yield from _fields(value, schemas, seen)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value, schemas, seen)


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]
