"""docs/reference.md describes all fields and errors, and the sample of the README is a response.

That the samples of the reference are those of the service is in tests/documents/test_written.py.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from marshmallow import fields

from tests.documents.described import Described
from tests.lib.serving import Shared
from wallet_api.api.access.views import view_of
from wallet_api.api.openapi import document
from wallet_api.api.schemas.shapes import Shape

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
# A request with curl, and the response to it.
EXAMPLE = re.compile(
    r'^curl .*"http://127\.0\.0\.1:8000(/v1/\S+)"\n```\n```json\n((?s:.*?))\n```', re.MULTILINE
)


@pytest.fixture(scope="module")
def described(shared: Shared) -> dict[str, Any]:
    """The OpenAPI document."""
    return document(shared.app)


def _section(heading: str) -> str:
    found = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", REFERENCE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def _words(text: str) -> set[str]:
    """Return the names in backticks outside of examples, also those behind a dot."""
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return {word for text in quoted for word in re.findall(r"\w+", text)}


def _shapes(kind: type[Shape]) -> Iterator[type[Shape]]:
    """Yield all schemas of responses of the package."""
    for shape in kind.__subclasses__():
        if shape.__module__.startswith("wallet_api."):
            yield from (shape, *_shapes(shape))


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
    shared: Shared, described: dict[str, Any]
) -> None:
    app = shared.app
    errors = _section("Common rules")
    document = Described(described)
    for path in document.keyed_paths:
        for status, response in document.responses(path).items():
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


def test_the_sample_of_the_readme_is_a_response_as_described(described: dict[str, Any]) -> None:
    [(request, sample)] = EXAMPLE.findall((ROOT / "README.md").read_text())
    Described(described).check(urlsplit(request).path, 200, json.loads(sample), set())
