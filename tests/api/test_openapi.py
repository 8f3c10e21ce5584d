"""The OpenAPI document has the arguments and responses of every route, and every response is valid for it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from flask.wrappers import Response
from jsonschema import Draft202012Validator
from marshmallow import fields
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.demo_service import DemoService, demo_service
from tests.processes import StartGunicorn
from wallet_api.access.gate import is_keyless
from wallet_api.database import Connection
from wallet_api.keys import create_key, revoke_key
from wallet_api.openapi import check, document
from wallet_api.responses.examples import MINT
from wallet_api.responses.operation import Operation, operation_of
from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Shape
from wallet_api.settings import Settings

Document = dict[str, Any]

# Their responses are too small to be compressed.
SMALL = ("/v1/transactions/volume", "/v1/transactions/count")


@pytest.fixture
def own_document(app: Flask) -> Document:
    return document(app)


@pytest.fixture
def service(settings: Settings) -> Iterator[DemoService]:
    with demo_service(settings) as service:
        yield service


def _strict(node: Any) -> Any:
    """The same schema without undocumented members."""
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    strict = {name: _strict(part) for name, part in node.items()}
    return strict | {"additionalProperties": False} if isinstance(node.get("properties"), dict) else strict


def _check(document: Document, path: str, status: int, body: Any) -> None:
    responses = document["paths"][path]["get"]["responses"]
    assert str(status) in responses, f"{path} answered {status}, which is not described"
    schema = responses[str(status)]["content"]["application/json"]["schema"]
    Draft202012Validator(
        schema | {"components": _strict(document["components"])},
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    ).validate(body)


def _required(document: Document, path: str) -> dict[str, Any]:
    """The example of each required argument."""
    parameters = document["paths"][path]["get"]["parameters"]
    return {parameter["name"]: parameter["example"] for parameter in parameters if parameter.get("required")}


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
        *("first_entry_time", "latest_entry_time", "first_trade_at", "last_trade_at"),
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
    examples = 0
    for path, item in own_document["paths"].items():
        for status, response in item["get"]["responses"].items():
            for example in (
                response.get("content", {}).get("application/json", {}).get("examples", {}).values()
            ):
                _check(own_document, path, int(status), example["value"])
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


def test_every_response_is_valid_for_its_schema(
    service: DemoService, make_app: Callable[[Settings], Flask]
) -> None:
    client = make_app(service.settings).test_client()
    own_document = client.get("/v1/openapi.json").json
    group = {"blockchain": "solana", "type": "kol"}
    wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
    token = {"blockchain": "solana", "mint": MINT}
    calls: list[tuple[str, dict[str, Any], int]] = [
        ("/v1/wallets", group | {"limit": 2}, 200),
        ("/v1/wallets", {}, 400),
        ("/v1/wallets/lookup", {"address": "So11111111111111111111111111111111111111112"}, 200),
        ("/v1/wallets/lookup", {}, 400),
        ("/v1/wallets/history", group | wallet | {"limit": 5000}, 200),
        ("/v1/wallets/history", group | wallet | {"overview": "false", "since": "2020-01-01"}, 200),
        ("/v1/wallets/history", group | wallet | {"type": "whale"}, 404),
        ("/v1/wallets/history", group, 400),
        ("/v1/wallets/holdings", wallet | {"address": "0x123"}, 400),
        ("/v1/wallets/tracker", wallet | {"period": "30d"}, 200),
        ("/v1/wallets/tracker", wallet | {"period": "1y"}, 400),
        ("/v1/wallet/tracking", wallet | {"period": "6h"}, 200),
        ("/v1/wallet/pnl_calendar", wallet | {"address": "So11111111111111111111111111111111111111112"}, 404),
        ("/v1/wallet/pnl_calendar", group | wallet, 400),
        ("/v1/wallets/connections", wallet | {"limit": 1}, 200),
        ("/v1/wallets/connections", wallet | {"limit": 0}, 400),
        ("/v1/transactions/volume", group | {"hours": 48, "mint": "none of them"}, 200),
        ("/v1/transactions/volume", group | {"hours": 0}, 400),
        ("/v1/transactions/latest", group | {"limit": 2}, 200),
        ("/v1/transactions/latest", group | {"cursor": "x"}, 400),
        ("/v1/transactions/timerange", group | {"hours": 2, "limit": 2000}, 200),
        ("/v1/transactions/count", group | {"hours": 48}, 200),
        ("/v1/wallet/leaderboard", group | {"period": "30d"}, 200),
        ("/v1/wallet/leaderboard", group | {"period": "30d", "limit": 1}, 200),
        ("/v1/wallets/leaderboard", group | {"period": "1y"}, 400),
        ("/v1/tokens/transactions", token | {"limit": 2}, 200),
        ("/v1/tokens/transactions", token | {"type": "whale", "limit": 2000}, 200),
        ("/v1/tokens/transactions", {"blockchain": "solana"}, 400),
        ("/v1/tokens/stats", token | {"mint": "none of them"}, 404),
        ("/v1/tokens/stats", token | {"type": "kol"}, 200),
        ("/v1/tokens/holders", token | {"limit": 2000}, 200),
        ("/v1/tokens/holders", token | {"cursor": "x"}, 400),
        ("/v1/analytics", group | {"mode": "most_traded", "limit": 2000}, 200),
        ("/v1/analytics", group | {"mode": "most_held"}, 400),
        ("/v1/meta", {"blockchain": "solana"}, 400),
    ]
    # Every operation with its required arguments, whichever there are.
    for path in set(own_document["paths"]) - {"/v1/openapi.json", "/metrics"}:
        needed = _required(own_document, path)
        calls.append((path, needed | ({"address": wallet["address"]} if "address" in needed else {}), 200))
    for path, arguments, status in calls:
        answer = client.get(path, query_string=arguments, headers=service.headers)
        assert answer.status_code == status, answer.text
        _check(own_document, path, status, answer.json)
        headers = own_document["paths"][path]["get"]["responses"][str(status)]["headers"]
        told = set(answer.headers.keys()) & set(own_document["components"]["headers"])
        assert told <= set(headers)


def test_the_headers_of_every_response_are_documented(
    gunicorn: StartGunicorn, service: DemoService, connection: Connection
) -> None:
    url = gunicorn(service.settings, workers=1).url
    own_document = requests.get(f"{url}/v1/openapi.json", timeout=20).json()
    all_described = set(own_document["components"]["headers"])
    paid = {"Authorization": f"Bearer {create_key(connection, 'paid', credits=100, rate='1000/second')}"}
    spent = {"Authorization": f"Bearer {create_key(connection, 'spent', credits=0)}"}
    slow = {"Authorization": f"Bearer {create_key(connection, 'slow', rate='1/day')}"}
    group = {"blockchain": "solana", "type": "kol"}
    wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
    of_keys = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Credits-Remaining"}
    kept = {"X-Request-ID", "Cache-Control", "ETag"}
    large = {"Vary", "Content-Encoding"}
    refused = {"X-Request-ID", "Cache-Control"}

    def told(path: str, arguments: dict[str, str], headers: dict[str, str], status: int) -> requests.Response:
        answer = requests.get(f"{url}{path}", params=arguments, headers=headers, timeout=20)
        assert answer.status_code == status, answer.text
        described = own_document["paths"][path]["get"]["responses"][str(status)]["headers"]
        assert set(answer.headers) & all_described <= set(described), (path, status)
        return answer

    for path, arguments in {
        "/v1/wallets": group,
        "/v1/wallets/history": group | wallet,
        "/v1/wallets/holdings": wallet,
        "/v1/wallet/holdings": wallet,
        "/v1/transactions/volume": group,
        "/v1/transactions/latest": group | {"limit": 10},
        "/v1/transactions/timerange": group,
        "/v1/transactions/count": group,
        "/v1/tokens/transactions": {"blockchain": "solana", "mint": MINT, "limit": 10},
        "/v1/tokens/stats": {"blockchain": "solana", "mint": MINT},
        "/v1/tokens/holders": {"blockchain": "solana", "mint": MINT},
        "/v1/analytics": group | {"mode": "most_traded"},
        "/v1/wallet/leaderboard": group | {"period": "7d"},
        "/v1/wallets/leaderboard": group | {"period": "7d"},
    }.items():
        answer = told(path, arguments, paid | {"Accept-Encoding": "gzip"}, 200)
        own = kept | of_keys | (set() if path in SMALL else large)
        assert own <= set(answer.headers), path
        if "Content-Encoding" in own:
            assert answer.headers["Content-Encoding"] == "gzip"
        same = told(path, arguments, paid | {"If-None-Match": answer.headers["ETag"]}, 304)
        assert kept | of_keys <= set(same.headers)
        assert same.content == b""
        assert same.headers["X-Credits-Remaining"] == answer.headers["X-Credits-Remaining"]
        for headers, status, more in (
            ({}, 401, {"WWW-Authenticate"}),
            (spent, 403, of_keys),
            (slow, 429, (of_keys - {"X-Credits-Remaining"}) | {"Retry-After"}),
            (paid, 400, of_keys),
        ):
            if headers is slow:
                requests.get(f"{url}{path}", params=arguments, headers=slow, timeout=20)
            answer = told(path, {} if status == 400 else arguments, headers, status)
            assert refused | more <= set(answer.headers), (path, status)
    answer = told("/v1/openapi.json", {}, {}, 200)
    assert kept <= set(answer.headers)
    assert kept <= set(told("/v1/openapi.json", {}, {"If-None-Match": answer.headers["ETag"]}, 304).headers)


def test_what_is_refused_before_the_view_keeps_to_the_document(
    client: FlaskClient, connection: Connection, own_document: Document
) -> None:
    path, group = "/v1/wallets", {"blockchain": "solana", "type": "kol"}
    revoked = create_key(connection, "revoked")
    revoke_key(connection, "revoked")
    spent = create_key(connection, "spent", credits=0)
    slow = create_key(connection, "slow", rate="1/hour")
    client.get(path, query_string=group, headers={"Authorization": f"Bearer {slow}"})
    for key, status, reason in (
        (None, 401, "missing_api_key"),
        ("nobody's", 403, "invalid_api_key"),
        (revoked, 403, "revoked_api_key"),
        (spent, 403, "insufficient_credits"),
        (slow, 429, None),
    ):
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = client.get(path, query_string=group, headers=headers)
        assert (answer.status_code, answer.json["error"].get("reason")) == (status, reason)
        _check(own_document, path, status, answer.json)


def test_the_document_is_cached_until_it_changes(client: FlaskClient) -> None:
    first = client.get("/v1/openapi.json")
    assert first.content_type == "application/json"
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
