"""docs/reference.md describes all fields and errors, and its samples are what the service returns.

That it is generated is in tests/documents/test_written.py.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from marshmallow import fields

from tests.documents.described import Described
from tests.lib.demo_service import DemoService
from wallet_api.api.access.views import view_of
from wallet_api.api.openapi import document
from wallet_api.api.schemas.shapes import Shape
from wallet_api.settings import Settings

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
# A request with curl, or its path alone, and the response to it.
EXAMPLE = re.compile(
    r'^(?:curl .*"http://127\.0\.0\.1:8000|`GET )(/v1/[^\s"`]+)["`]\n(?:```\n)?```json\n((?s:.*?))\n```',
    re.MULTILINE,
)
EXAMPLES = EXAMPLE.findall(REFERENCE) + EXAMPLE.findall((ROOT / "README.md").read_text())


@pytest.fixture
def described(app: Flask) -> dict[str, Any]:
    """The OpenAPI document."""
    return document(app)


def _section(heading: str) -> str:
    found = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", REFERENCE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def _words(text: str) -> set[str]:
    """Return the names in backticks outside of examples, also those behind a dot."""
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return {word for text in quoted for word in re.findall(r"\w+", text)}


def _keyed(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in described["paths"].items():
        if item["get"].get("security") != []:
            yield path, item["get"]


def _shapes(kind: type[Shape]) -> Iterator[type[Shape]]:
    """Yield all schemas of responses of the package."""
    for shape in kind.__subclasses__():
        if shape.__module__.startswith("wallet_api."):
            yield from (shape, *_shapes(shape))


_HELD = {"unrealized_pnl", "avg_cost", "price", "price_source", "worth"}
_MAY_LACK = _HELD | {"warnings", "buy_value", "sell_value", "profit_factor"}


def _has_form(value: Any, shown: Any) -> bool:
    """Return whether a JSON value has the names of another at every depth. Rows of a list have one form.

    The demo depends on the clock: dollars may be unknown, nothing be lost or held, no token have a price, a
    month have no day yet, and the newest trade, whose value has a name by its side, be a buy or sell. What a
    trade made may be absent.
    """
    if shown == "…":
        return True
    if isinstance(shown, dict):
        # Of an object that is shown elsewhere, only the other fields are.
        more = shown.keys() - {"…"} - value.keys() if "…" in shown else value.keys() ^ shown.keys()
        same = value.keys() & shown.keys()
        may_lack = _MAY_LACK | ({"realized_pnl", "cost"} if "transaction_type" in shown else set())
        return all(name.endswith("_usd") or name in may_lack for name in more) and all(
            _has_form(value[name], shown[name]) for name in same
        )
    if isinstance(shown, list):
        return not value or not shown or _has_form(value[0], shown[0])
    return not isinstance(value, dict | list)


def test_what_may_be_absent_or_null_is_described_so() -> None:
    for schema in _shapes(Shape):
        for name, field in schema().fields.items():
            described = str(field.metadata["description"]).lower()
            present = field.required or isinstance(field, fields.Constant)
            assert present or "absent" in described, (schema, name)
            assert not field.allow_none or isinstance(field, fields.Raw) or "null" in described, (
                schema,
                name,
            )


def test_every_field_of_a_response_is_named_outside_of_samples() -> None:
    words = _words(REFERENCE)
    bare = ("wallet_api.api.schemas.status", "wallet_api.api.schemas.envelope")
    shapes = [schema for schema in _shapes(Shape) if schema.__module__ not in bare]
    missing = {name for schema in shapes for name in schema().fields if name not in words}
    # The document says of all x_usd at once what they are.
    assert {name for name in missing if not name.endswith("_usd")} == set()


def test_every_error_header_and_path_without_a_key_is_described(
    app: Flask, described: dict[str, Any]
) -> None:
    errors = _section("Common rules")
    responses = Described(described).responses
    for path, _ in _keyed(described):
        for status, response in responses(path).items():
            examples = response.get("content", {}).get("application/json", {}).get("examples", {})
            for example in examples.values() if status != "200" else ():
                error = example["value"]["error"]
                assert f"- {status} `{error['code']}`:" in errors, path
                assert error.get("reason", "forbidden") in _words(errors), path
    headers = set(described["components"]["headers"]) - {"WWW-Authenticate"}
    assert {name for name in headers if f"`{name}`" not in errors} == set()
    keyless = {
        rule.rule for rule in app.url_map.iter_rules() if view_of(app, rule.endpoint).access == "keyless"
    }
    about = _section("About the service")
    assert {
        path
        for path in keyless - {"/docs/<name>", "/page/<name>", "/page/figures.json"}
        if f"- `{path}`:" not in about
    } == set()


def test_every_sample_is_a_response_of_the_service(
    demo: DemoService, make_app: Callable[[Settings], Flask]
) -> None:
    client = make_app(demo.settings).test_client()
    address = demo.wallet("solana", "kol")
    # It still holds what it bought last.
    mint = [
        row.mint
        for row in demo.world.trade_rows()
        if row.wallet_address == address and row.transaction_type == "buy"
    ][-1]
    for request, sample in EXAMPLES:
        url = urlsplit(request)
        query = re.sub("address=[^&]*", f"address={address}", url.query)
        if "address=" in query:
            # One that the wallet traded.
            query = re.sub("mint=[^&]*", f"mint={mint}", query)
        body = client.get(url.path, query_string=query, headers=demo.headers).json
        # A list that is cut ends with …, and an object that is left out is {…}.
        others = sample.replace("{…}", '"…"').replace("{…,", '{"…": "…",')
        shown = json.loads(re.sub(r",\s*…\]", "]", others))
        assert body.pop("success") == shown.pop("success", True)
        # Most show the data alone.
        assert _has_form(body if "meta" in shown else body["data"], shown), request
    sections = re.findall(r"^## GET (\S+)$", REFERENCE, re.MULTILINE)
    assert {urlsplit(request).path for request, _ in EXAMPLES} == set(sections)
