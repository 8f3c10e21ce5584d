"""The OpenAPI document has the arguments and responses of every route, and every response is valid for it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask.wrappers import Response
from marshmallow import fields
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.demo_service import DemoService, demo_service
from tests.described import Described
from wallet_api.access.gate import is_keyless
from wallet_api.openapi import check, document
from wallet_api.responses.examples import MINT
from wallet_api.responses.operation import Operation, operation_of
from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Shape
from wallet_api.settings import Settings

Document = dict[str, Any]


@pytest.fixture
def own_document(app: Flask) -> Document:
    return document(app)


@pytest.fixture
def service(settings: Settings) -> Iterator[DemoService]:
    with demo_service(settings) as service:
        yield service


def test_the_document_is_valid_openapi_3_1(own_document: Document) -> None:
    OpenAPIV31SpecValidator(own_document).validate()
    assert own_document["openapi"].startswith("3.1")


def test_every_route_is_described_or_a_page_for_people(app: Flask, own_document: Document) -> None:
    endpoints = {rule.endpoint for rule in app.url_map.iter_rules()}
    pages = {endpoint for endpoint in endpoints if operation_of(app, endpoint) is None}
    assert pages == {"docs.page", "docs.asset"}
    routes = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint not in pages}
    assert set(own_document["paths"]) == routes


def test_a_route_without_a_description_is_refused_by_name(app: Flask) -> None:
    app.add_url_rule("/v1/nameless", "nameless", lambda: "")
    with pytest.raises(TypeError, match="nameless"):
        check(app)


class _NamelessInner(Shape):
    known = fields.String(metadata={"description": "Known."})
    nameless = fields.String()


class _NamelessData(Shape):
    rows = fields.List(fields.Nested(_NamelessInner), metadata={"description": "Rows."})
    row = fields.Nested(_NamelessInner)


class _NamelessArguments(Arguments):
    limit = fields.Integer()


def test_every_field_without_a_description_is_refused_by_name(app: Flask) -> None:
    operation = Operation(tag="Wallets", summary="", arguments=_NamelessArguments(), data=_NamelessData())
    app.add_url_rule("/v1/nameless", "nameless", operation.documents(lambda: Response()))
    with pytest.raises(TypeError) as refused:
        check(app)
    for name in ("_NamelessArguments.limit", "_NamelessData.row", "_NamelessInner.nameless"):
        assert name in str(refused.value)
    assert "known" not in str(refused.value)
    assert "rows" not in str(refused.value)


def _described_properties(node: Any) -> Iterator[tuple[str, Any]]:
    """Every property of every schema, wherever it is."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield from node["properties"].items()
        for part in node.values():
            yield from _described_properties(part)
    elif isinstance(node, list):
        for part in node:
            yield from _described_properties(part)


def test_every_property_is_described_and_every_time_is_one(own_document: Document) -> None:
    properties = list(_described_properties(own_document["components"]["schemas"]))
    assert len(properties) > 400
    assert [name for name, rules in properties if not rules.get("description")] == []
    times = {name for name, rules in properties if rules.get("format") == "date-time"}
    assert times == {
        *("timestamp", "created_at", "first_seen", "last_seen", "last_shared_at", "last_updated", "price_at"),
        *(
            "first_entry_time",
            "latest_entry_time",
            "first_trade_at",
            "last_trade_at",
            "expires_at",
            "reset_at",
        ),
    }
    assert {name for name, rules in properties if rules.get("format") == "date"} == {"date"}


def test_only_aliases_are_deprecated(own_document: Document) -> None:
    deprecated = {path for path, item in own_document["paths"].items() if item["get"].get("deprecated")}
    assert deprecated == {"/v1/wallet/holdings", "/v1/wallet/tracking", "/v1/wallets/leaderboard"}


def test_operations_with_a_key_document_it_and_its_errors(app: Flask, own_document: Document) -> None:
    for rule in app.url_map.iter_rules():
        if rule.rule not in own_document["paths"]:
            continue
        operation = own_document["paths"][rule.rule]["get"]
        errors = {int(status) for status in operation["responses"]} - {200, 304}
        if is_keyless(app, rule.endpoint):
            assert operation["security"] == []
        else:
            assert operation["security"] == [{"bearer": []}, {"api_key": []}]
            assert errors >= {400, 401, 403, 429, 500, 503}
            assert {"X-Request-ID", "X-RateLimit-Remaining", "X-Credits-Remaining"} <= set(
                operation["responses"]["200"]["headers"]
            )
        for status in errors & {429, 503}:
            assert "Retry-After" in operation["responses"][str(status)]["headers"]


def test_every_parameter_is_described_and_operations_have_names_of_their_own(own_document: Document) -> None:
    operations = [path["get"] for path in own_document["paths"].values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
        assert all(parameter["description"] for parameter in operation["parameters"])


def test_a_404_names_what_is_not_found(own_document: Document) -> None:
    found = {
        path: item["get"]["responses"]["404"]["description"]
        for path, item in own_document["paths"].items()
        if "404" in item["get"]["responses"]
    }
    of_tokens = {description for path, description in found.items() if path.startswith("/v1/tokens/")}
    assert of_tokens == {"No tracked wallet of this chain ever traded the token."}
    others = {description for path, description in found.items() if not path.startswith("/v1/tokens/")}
    assert others == {"The wallet is not tracked."}


def test_every_example_is_valid_for_its_schema(own_document: Document) -> None:
    described, examples = Described(own_document), 0
    for path, item in own_document["paths"].items():
        for status, response in item["get"]["responses"].items():
            for example in (
                response.get("content", {}).get("application/json", {}).get("examples", {}).values()
            ):
                described.check(path, int(status), example["value"], set())
                examples += 1
    assert examples > 80


def test_every_error_code_and_reason_has_an_example(own_document: Document) -> None:
    text = json.dumps(own_document["paths"])
    for word in (
        *("missing_parameter", "invalid_parameter", "unauthorized", "forbidden", "not_found"),
        *("rate_limited", "internal_error", "service_unavailable"),
        *("missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key"),
        *("insufficient_credits", "wallet_not_found", "token_not_found", "provider_not_configured"),
    ):
        assert f'"{word}"' in text


def test_responses_of_each_form_are_valid_for_their_schema(
    service: DemoService, make_app: Callable[[Settings], Flask]
) -> None:
    client = make_app(service.settings).test_client()
    described = Described(client.get("/v1/openapi.json").json)
    group = {"blockchain": "solana", "type": "kol"}
    wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
    token = {"blockchain": "solana", "mint": MINT}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/v1/wallets", group | {"limit": 2}),
        ("/v1/wallets/lookup", {"address": "So11111111111111111111111111111111111111112"}),
        ("/v1/wallets/history", group | wallet | {"limit": 5000}),
        ("/v1/wallets/history", group | wallet | {"overview": "false", "since": "2020-01-01"}),
        ("/v1/wallets/tracker", wallet | {"period": "30d"}),
        ("/v1/wallets/connections", wallet | {"limit": 1}),
        ("/v1/transactions/volume", group | {"hours": 48, "mint": "none of them"}),
        ("/v1/transactions/latest", group | {"limit": 2}),
        ("/v1/transactions/timerange", group | {"hours": 2, "limit": 2000}),
        ("/v1/transactions/count", group | {"hours": 48}),
        ("/v1/wallet/leaderboard", group | {"period": "30d", "limit": 1}),
        ("/v1/tokens/transactions", token | {"limit": 2}),
        ("/v1/tokens/transactions", token | {"type": "whale", "limit": 2000}),
        ("/v1/tokens/stats", token | {"type": "kol"}),
        ("/v1/tokens/holders", token | {"limit": 2000}),
        ("/v1/analytics", group | {"mode": "most_traded", "limit": 2000}),
        *((path, {}) for path in ("/v1/meta", "/v1/health", "/healthz", "/readyz", "/")),
    ]
    for path, arguments in calls:
        answer = client.get(path, query_string=arguments, headers=service.headers)
        assert answer.status_code == 200, answer.text
        described.check(path, 200, answer.json, set(answer.headers.keys()))


def test_the_document_is_cached_until_it_changes(client: FlaskClient) -> None:
    first = client.get("/v1/openapi.json")
    assert first.content_type == "application/json"
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
