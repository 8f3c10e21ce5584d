"""The text of /llms.txt (https://llmstxt.org), from the OpenAPI document, for models that send requests."""

from collections.abc import Iterator
from typing import Any

from wallet_api.openapi.definitions import GENERAL, OF_FIELDS

_DEFINITIONS = (
    *GENERAL,
    *OF_FIELDS.values(),
    "A trade is identified by its wallet, `tx_signature`, `mint`, `transaction_type` and `event_index`.",
)
_HEAD = """\
# Wallet Intelligence API

> A self-hosted HTTP API for what tracked crypto wallets trade and hold: their records, trades, balances and
> ranking, and the tokens.

All operations are `GET`. Send the key as `Authorization: Bearer KEY`. A response is
`{"success": true, "data", "meta"}`, an error
`{"success": false, "error": {"code", "message", "parameter", "allowed", "reason", "retry_after_seconds"},
"meta"}`. On 429 and 503 wait for these seconds. Schemas of all responses: [OpenAPI](/v1/openapi.json).

Assistants use the same operations as tools, with the same key, over MCP: `POST /mcp`.

## Definitions
"""
_ARGUMENTS = "\nArguments are in parentheses; required ones have a star.\n"


def llms_text(document: dict[str, Any]) -> str:
    """Return the text: definitions, then each operation by tag with its arguments and their words."""
    definitions = [f"- {sentence}" for sentence in _DEFINITIONS]
    return "\n".join([_HEAD, *definitions, _ARGUMENTS, *_sections(document)])


def _sections(document: dict[str, Any]) -> Iterator[str]:
    words = {name: schema.get("enum", ()) for name, schema in document["components"]["schemas"].items()}
    for tag in document["tags"]:
        yield f"## {tag['name']}\n\n{tag['description']}\n"
        for path, item in document["paths"].items():
            operation = item["get"]
            if operation["tags"] == [tag["name"]]:
                arguments = ", ".join(_arguments(operation, words)) or "no arguments"
                yield f"- [{operation['operationId']}]({path}): {operation['description']} ({arguments})"
        yield ""


def _arguments(operation: dict[str, Any], words: dict[str, Any]) -> Iterator[str]:
    for parameter in operation["parameters"]:
        if parameter["in"] == "query":
            allowed = words.get(parameter["schema"].get("$ref", "").rpartition("/")[2], ())
            star = "*" if "example" in parameter else ""
            yield f"`{parameter['name']}`{star}" + (f" {'|'.join(allowed)}" if allowed else "")
