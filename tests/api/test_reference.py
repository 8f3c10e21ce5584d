"""docs/reference.md describes every operation in full, and its examples are what the service returns."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from tests.demo_service import demo_service
from wallet_api.openapi import document
from wallet_api.settings import Settings

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
EXAMPLE = re.compile(r"```sh\n(?:KEY=[^\n]*\n)?(curl [^\n]*)\n```\n```json\n(.*?)\n```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(REFERENCE) + EXAMPLE.findall((ROOT / "README.md").read_text())


@pytest.fixture
def described(app: Flask) -> dict[str, Any]:
    """The OpenAPI document."""
    return document(app)


def _section(heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", REFERENCE, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def _words(text: str) -> set[str]:
    """Return the names in backticks outside of examples, also those behind a dot."""
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return {word for text in quoted for word in re.findall(r"\w+", text)}


def _properties(node: Any, schemas: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all properties of a schema, at every depth."""
    if isinstance(node, list):
        for part in node:
            yield from _properties(part, schemas)
    elif isinstance(node, dict):
        if "$ref" in node:
            yield from _properties(schemas[node["$ref"].rpartition("/")[2]], schemas)
        yield from node.get("properties", {})
        for part in node.values():
            yield from _properties(part, schemas)


def _keyed(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in described["paths"].items():
        if item["get"].get("security") != []:
            yield path, item["get"]


def _keys(value: Any) -> Any:
    """Return the form of a JSON value: the names at every depth. Rows of a list have one form."""
    if isinstance(value, dict):
        return {name: _keys(part) for name, part in value.items()}
    return [_keys(value[0])] if isinstance(value, list) and value else None


def test_every_operation_has_a_section_and_every_alias_is_in_one(described: dict[str, Any]) -> None:
    sections = set(re.findall(r"^## GET (\S+)$", REFERENCE, re.MULTILINE))
    paths = {path for path, _ in _keyed(described)}
    assert sections <= paths
    for alias in paths - sections:
        assert f"`{alias}` is an alias" in REFERENCE
    for path in set(described["paths"]) - paths:
        assert f"| `{path}` |" in _section("About the service")


def test_every_argument_and_every_field_is_described(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    common = _words(_section("Common rules"))
    for path, operation in _keyed(described):
        if f"## GET {path}\n" not in REFERENCE:
            continue
        words = _words(_section(f"GET {path}"))
        arguments = {p["name"] for p in operation["parameters"] if p["in"] == "query"} - {"api_key"}
        assert arguments <= words, path
        data = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert set(_properties(data, schemas)) - words <= common, path


def test_every_error_and_every_header_is_described(described: dict[str, Any]) -> None:
    errors = _section("Common rules")
    for path, operation in _keyed(described):
        for status, response in operation["responses"].items():
            examples = response.get("content", {}).get("application/json", {}).get("examples", {})
            for example in examples.values() if status != "200" else ():
                error = example["value"]["error"]
                assert f"| {status} | `{error['code']}` |" in errors, path
                assert error.get("reason", "forbidden") in _words(errors), path
    headers = set(described["components"]["headers"]) - {"WWW-Authenticate"}
    assert {name for name in headers if f"`{name}`" not in errors} == set()


def test_every_example_is_a_response_of_the_service(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    assert len(EXAMPLES) == 7
    with demo_service(settings) as service:
        client = make_app(service.settings).test_client()
        for command, shown in EXAMPLES:
            url = urlsplit(shlex.split(command)[3])
            query = re.sub("address=[^&]*", f"address={service.wallet('solana', 'kol')}", url.query)
            body = client.get(url.path, query_string=query, headers=service.headers).json
            # A list that is cut ends with …
            example = json.loads(re.sub(r",\s*…\]", "]", shown))
            assert _keys(example) == _keys(body), command
            assert body["success"] == example["success"]
