"""The text of /llms.txt (https://llmstxt.org), from the OpenAPI document, for models that send requests."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wallet_api.api.openapi.definitions import GENERAL, OF_FIELDS
from wallet_api.api.openapi.words import WORDS
from wallet_api.api.schemas.argument_fields import MAX_TEXTS
from wallet_api.api.schemas.arguments import OF_FORM
from wallet_api.api.schemas.leaderboard import CHARTS
from wallet_api.queries import feed, paging, signals, volume

_DEFINITIONS = (
    *GENERAL,
    *OF_FIELDS.values(),
    "A trade is identified by its wallet, `tx_signature`, `mint`, `transaction_type` and `event_index`.",
    "`after` instead of `cursor` follows a feed, oldest arrival first: `after=now` returns the place to go on"
    " from, `after=start` begins with the first change; send each `next_cursor` as the next `after`. Each row"
    " is a Change, `trade` if it is new to you. Pages without rows are free.",
    f"Maxima: `limit` {paging.MAX_LIMIT} (of list_wallets, list_connections, get_holdings and get_leaderboard"
    f" none, with `chart=true` {CHARTS}); several `mint` or `address`, with commas,"
    f" {MAX_TEXTS}; windows of signals {signals.MAX_HOURS} hours, of timerange {feed.MAX_WINDOW_SECONDS}"
    f" seconds, of volume and count {volume.MAX_WINDOW_SECONDS} seconds.",
    "`amounts=string` (default `number`) on each operation: amounts as strings of the same digits."
    " `format=csv` or `ndjson` (default `json`), where `format` is listed: the rows alone.",
)
# A word in quotes, or a number; "all by default" is no value.
_DEFAULT = re.compile(
    r"(?:`(?=\w+`)|\b(?=\d))(\w+)`? (?:by default|\(default\))(?:, (\S+ (?:with|for) `\w+`))?"
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
# What makes a skill of the text: by these lines an assistant decides to read it.
# Their form: https://agentskills.io/specification
SKILL = """\
---
name: wallet-intelligence
description: Answer what tracked crypto wallets on Solana, BNB Chain, Base, Ethereum and Robinhood Chain
  bought, sold, made and hold, who is best, and what several bought together, by requests to a Wallet
  Intelligence API. Use it for questions about wallets, KOLs, smart money, tokens and their trades.
---

To answer a question: find names with `/v1/search`, begin with `/v1/wallets/brief` of a wallet or
`/v1/tokens/stats` of a token, and ask for the least rows that decide it. Say of a figure which window it is
of, and what `warnings` say. The key is the user's: ask for it, and write it into no file.

"""
_ARGUMENTS = """
Arguments are in parentheses; required ones have a star, defaults follow `=`, in brackets where they differ.
After `->` stand the fields of the data: `?` may be absent, `[]` is a list, and objects are listed at the end.
"""


def llms_text(document: dict[str, Any]) -> str:
    """Return the text: definitions, then each operation by tag with its arguments and their words."""
    definitions = [f"- {sentence}" for sentence in _DEFINITIONS]
    return "\n".join([_HEAD, *definitions, _ARGUMENTS, *_sections(document), *_objects(document)])


def _sections(document: dict[str, Any]) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    for tag in document["tags"]:
        yield f"## {tag['name']}\n\n{tag['description']}\n"
        for path, item in document["paths"].items():
            operation = item["get"]
            if operation["tags"] == [tag["name"]]:
                arguments = ", ".join(_arguments(operation, schemas)) or "no arguments"
                yield f"- [{operation['operationId']}]({path}): {operation['description']} ({arguments})"
                yield f"  -> {_fields(schemas[_data(operation, schemas)])}"
        yield ""


def _arguments(operation: dict[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation["parameters"]:
        if parameter["in"] == "query" and parameter["name"] != "amounts":
            allowed = schemas.get(_name(parameter["schema"]), {}).get("enum", ())
            default = _default(parameter)
            yield (
                f"`{parameter['name']}`"
                + ("*" if "example" in parameter else "")
                + (f"={default}" if default and parameter["name"] not in OF_FORM else "")
                + (f" {'|'.join(allowed)}" if allowed and parameter["name"] not in OF_FORM else "")
            )


def _default(parameter: Mapping[str, Any]) -> str:
    """Return the value of an argument that is left out, and in brackets where it is another one."""
    if "default" in parameter["schema"]:
        default = parameter["schema"]["default"]
        return str(default).lower() if isinstance(default, bool) else str(default)
    said = _DEFAULT.search(parameter.get("description", ""))
    if said is None:
        return ""
    return f"{said[1]} [{said[2].replace('`', '')}]" if said[2] else said[1]


def _data(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return the name of the schema of the data of an operation."""
    body = _name(operation["responses"]["200"]["content"]["application/json"]["schema"])
    data = schemas[body]["properties"].get("data")
    return body if data is None else _name(data)


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(
        f"{name}{'' if name in required else '?'}{_kind(rules)}"
        for name, rules in schema.get("properties", {}).items()
    )


def _kind(rules: Mapping[str, Any]) -> str:
    """Return `[]` of a list, and the name of an object after a colon."""
    inner = rules.get("items", rules.get("additionalProperties", rules))
    kinds = [_name(kind) for kind in inner.get("anyOf", [inner])]
    objects = " or ".join(kind for kind in kinds if kind and kind not in WORDS)
    return ("[]" if "items" in rules else "") + (f": {objects}" if objects else "")


def _objects(document: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each object within the data of operations."""
    schemas = document["components"]["schemas"]
    operations = [item["get"] for item in document["paths"].values()]
    yield "## Objects\n"
    seen = {_data(operation, schemas) for operation in operations}
    waiting = sorted(seen)
    while waiting:
        for name in _within(schemas[waiting.pop()]):
            if name not in seen and name not in WORDS:
                seen.add(name)
                waiting.append(name)
                fields = _fields(schemas[name]) or " or ".join(_within(schemas[name]))
                yield f"- {name}: {fields}"


def _within(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the schemas that a schema refers to."""
    for node in (*schema.get("properties", {}).values(), *schema.get("oneOf", ())):
        inner = node.get("items", node.get("additionalProperties", node))
        yield from filter(None, map(_name, inner.get("anyOf", [inner])))


def _name(rules: Mapping[str, Any]) -> str:
    return str(rules.get("$ref", "")).rpartition("/")[2]
