"""The tools of MCP, one for each operation of the OpenAPI document, and what is said once for all of them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from wallet_api.api.openapi.definitions import GENERAL, OF_FIELDS
from wallet_api.api.schemas.arguments import OF_FORM, OF_TOOLS

# An argument of so many tools is described once.
_MANY = 2

Document = Mapping[str, Any]


def tools(document: Document) -> list[dict[str, Any]]:
    """Return the tools, in the order of the document.

    Results are JSON with exact numbers, so that none has `format` or `amounts`.
    """
    schemas, common = document["components"]["schemas"], _common(document)
    return [_tool(operation, schemas, common) for operation in _operations(document)]


def instructions(document: Document) -> str:
    """Return what holds for all tools: definitions, and the arguments that many of them have."""
    arguments = [f"`{name}`: {description}" for name, description in _common(document).items()]
    return " ".join([*GENERAL, *OF_FIELDS.values(), "Arguments of several tools:", *arguments])


def _operations(document: Document) -> Iterator[Document]:
    return (item["get"] for item in document["paths"].values())


def _parameters(operation: Document) -> list[Document]:
    return [
        parameter
        for parameter in operation["parameters"]
        if parameter["in"] == "query" and parameter["name"] not in OF_FORM
    ]


def _common(document: Document) -> dict[str, str]:
    """Return the descriptions of arguments that many tools have, of each the most usual one, by its name."""
    counts = Counter(
        (parameter["name"], parameter["description"])
        for operation in _operations(document)
        for parameter in _parameters(operation)
    )
    many = [pair for pair, count in counts.most_common() if count >= _MANY]
    return dict(reversed(many))


def _tool(operation: Document, schemas: Document, common: Mapping[str, str]) -> dict[str, Any]:
    parameters = _parameters(operation)
    return {
        "name": operation["operationId"],
        "description": operation["description"],
        "inputSchema": {
            "type": "object",
            "properties": {
                parameter["name"]: _property(parameter, schemas, common) for parameter in parameters
            },
            "required": [parameter["name"] for parameter in parameters if parameter.get("required")],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _property(parameter: Document, schemas: Document, common: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of an argument, without a reference to another document."""
    name, schema = parameter["name"], dict(parameter["schema"])
    named = schemas[schema.pop("$ref").rpartition("/")[2]] if "$ref" in schema else {}
    # A format says nothing to a model that its description does not.
    rules = {rule: value for rule, value in (named | schema).items() if rule in ("type", "enum", "default")}
    if name in OF_TOOLS:
        rules["default"] = OF_TOOLS[name] == "true"
    if common.get(name) == parameter["description"]:
        return rules
    return rules | {"description": parameter["description"]}
