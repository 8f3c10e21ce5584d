"""The OpenAPI document has the arguments and responses of every route, and every response is valid for it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask.wrappers import Response
from marshmallow import fields
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.demo_service import demo_service
from tests.described import Described
from wallet_api.access.gate import is_keyless
from wallet_api.chains import CHAINS
from wallet_api.openapi import check, document, is_alias
from wallet_api.responses.examples import MINT
from wallet_api.responses.operation import Operation, operation_of
from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Shape
from wallet_api.schemas.leaderboard import PERIODS
from wallet_api.settings import Settings

Document = dict[str, Any]


@pytest.fixture
def own_document(app: Flask) -> Document:
    return document(app)


def test_the_document_is_valid_openapi_3_1_and_cached_until_it_changes(client: FlaskClient) -> None:
    first = client.get("/v1/openapi.json")
    assert first.content_type == "application/json"
    assert first.json["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(first.json).validate()
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_every_route_is_described_or_an_alias_or_not_of_the_api(app: Flask, own_document: Document) -> None:
    rules = list(app.url_map.iter_rules())
    pages = {rule.endpoint for rule in rules if operation_of(app, rule.endpoint) is None}
    assert pages == {
        *("docs.page", "docs.asset", "docs.openapi", "docs.llms", "index.index"),
        *("health.healthz", "health.readyz", "metrics.metrics"),
    }
    aliases = {rule.rule for rule in rules if is_alias(rule)}
    assert aliases == {"/v1/wallet/holdings", "/v1/wallet/tracking", "/v1/wallets/leaderboard"}
    described = [rule for rule in rules if rule.endpoint not in pages and rule.rule not in aliases]
    assert set(own_document["paths"]) == {rule.rule for rule in described}
    for rule in described:
        keys = [] if is_keyless(app, rule.endpoint) else [{"bearer": []}, {"api_key": []}]
        assert own_document["paths"][rule.rule]["get"]["security"] == keys


class _NamelessInner(Shape):
    known = fields.String(metadata={"description": "Known."})
    nameless = fields.String()


class _NamelessData(Shape):
    rows = fields.List(fields.Nested(_NamelessInner), metadata={"description": "Rows."})
    row = fields.Nested(_NamelessInner)


class _NamelessArguments(Arguments):
    limit = fields.Integer()


def test_a_route_or_a_field_without_a_description_is_refused_by_name(app: Flask) -> None:
    operation = Operation("nameless", "Wallets", "", arguments=_NamelessArguments(), data=_NamelessData())
    app.add_url_rule("/v1/nameless", "nameless", operation.documents(lambda: Response()))
    with pytest.raises(TypeError) as refused:
        check(app)
    for name in ("_NamelessArguments.limit", "_NamelessData.row", "_NamelessInner.nameless"):
        assert name in str(refused.value)
    assert "known" not in str(refused.value)
    assert "rows" not in str(refused.value)
    app.add_url_rule("/v1/undescribed", "undescribed", lambda: "")
    with pytest.raises(TypeError, match="undescribed"):
        check(app)


def test_every_parameter_is_described_and_operations_have_names_of_their_own(own_document: Document) -> None:
    operations = {path: item["get"] for path, item in own_document["paths"].items()}
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    for operation in operations.values():
        assert operation["summary"]
        assert operation["description"]
        assert all(parameter["description"] for parameter in operation["parameters"])
        assert re.fullmatch(r"(count|get|list|look_up)(_[a-z]+)+", operation["operationId"])


def test_every_set_of_words_has_a_name_and_is_described_once(own_document: Document) -> None:
    schemas = own_document["components"]["schemas"]
    sets = {name: schemas[name]["enum"] for name in schemas if "enum" in schemas[name]}
    everything = json.dumps(own_document)
    assert everything.count('"enum"') == len(sets)
    assert len({frozenset(words) for words in sets.values()}) == len(sets)
    assert [name for name in sets if f'/schemas/{name}"' not in everything] == []


def _properties(node: Any) -> Iterator[tuple[str, Any]]:
    """Every property of every schema, wherever it is."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield from node["properties"].items()
        for part in node.values():
            yield from _properties(part)
    elif isinstance(node, list):
        for part in node:
            yield from _properties(part)


def test_every_property_is_described_and_every_time_is_one(own_document: Document) -> None:
    properties = list(_properties(own_document["components"]["schemas"]))
    assert len(properties) > 400
    assert [name for name, rules in properties if not rules.get("description")] == []
    times = {name for name, rules in properties if rules.get("format") == "date-time"}
    assert times == {
        *("arrived_at", "before"),
        *("timestamp", "created_at", "first_seen", "last_seen", "last_shared_at", "last_updated", "price_at"),
        *(
            "first_entry_time",
            "latest_entry_time",
            "first_buy_at",
            "first_trade_at",
            "last_trade_at",
            "as_of",
            "bought_at",
            "first_buy_at",
            "latest_buy_at",
            "expires_at",
            "reset_at",
        ),
    }
    assert {name for name, rules in properties if rules.get("format") == "date"} == {"date"}


def test_every_code_and_reason_has_an_example_and_every_example_is_valid(own_document: Document) -> None:
    described, examples = Described(own_document), 0
    not_found = set()
    for path in own_document["paths"]:
        for status, response in described.responses(path).items():
            content = response.get("content", {}).get("application/json", {})
            for example in content.get("examples", {}).values():
                described.check(path, int(status), example["value"], set())
                examples += 1
            if status == "404":
                not_found.add((path.startswith("/v1/tokens/"), response["description"]))
    assert examples > 80
    assert not_found == {
        (True, "No tracked wallet of this chain ever traded the token."),
        (False, "The wallet is not tracked."),
    }
    text = json.dumps(own_document)
    for word in (
        *("missing_parameter", "invalid_parameter", "unauthorized", "forbidden", "not_found"),
        *("rate_limited", "internal_error", "service_unavailable"),
        *("missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key"),
        *("insufficient_credits", "wallet_not_found", "token_not_found", "provider_not_configured"),
    ):
        assert f'"{word}"' in text


def test_responses_for_each_wallet_and_group_are_valid_for_their_schema(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    with demo_service(settings) as service:
        client = make_app(replace(service.settings, answer_ttl_seconds=0)).test_client()
        described = Described(client.get("/v1/openapi.json").json)
        calls: list[tuple[str, dict[str, Any]]] = [
            *((path, {}) for path in ("/v1/meta", "/v1/health")),
            ("/v1/wallets/lookup", {"address": "So11111111111111111111111111111111111111112"}),
        ]
        for chain in CHAINS.values():
            for group in ({"blockchain": chain.name, "type": type} for type in chain.types):
                wallet = {"blockchain": chain.name, "address": service.wallet(**group)}
                calls += [
                    *(("/v1/wallets", group | page) for page in ({}, {"limit": 2})),
                    *(("/v1/wallet/leaderboard", group | {"period": period}) for period in PERIODS),
                    ("/v1/wallet/leaderboard", group | {"period": "30d", "limit": 1}),
                    ("/v1/transactions/volume", group | {"hours": 48, "mint": "none of them"}),
                    ("/v1/transactions/latest", group | {"limit": 20}),
                    ("/v1/transactions/timerange", group | {"hours": 2, "limit": 2000}),
                    ("/v1/transactions/count", group | {"hours": 48}),
                    ("/v1/analytics", group | {"mode": "most_traded", "limit": 2000}),
                    *(
                        ("/v1/analytics", group | {"mode": mode})
                        for mode in ("net_flow", "volume_trend", "top_performers", "win_rate")
                    ),
                    *(
                        ("/v1/signals", group | {"mode": mode, "min_wallets": 1, "hours": 168})
                        for mode in ("cluster", "entry", "exit")
                    ),
                    ("/v1/signals", group | {"mode": "cluster", "include_wallets": "false"}),
                    ("/v1/wallets/history", group | wallet | {"limit": 2000}),
                    ("/v1/wallets/history", group | wallet | {"overview": "false", "since": "2020-01-01"}),
                    ("/v1/wallets/tracker", wallet | {"period": "30d"}),
                    ("/v1/wallet/pnl_calendar", wallet),
                    ("/v1/wallets/connections", wallet | {"limit": 1}),
                    ("/v1/wallets/holdings", wallet),
                ]
        for of_type in ({}, {"type": "kol"}, {"type": "whale"}):
            token = {"blockchain": "solana", "mint": MINT} | of_type
            calls += [
                ("/v1/tokens/transactions", token | {"limit": 2000}),
                ("/v1/tokens/stats", token),
                ("/v1/tokens/holders", token | {"limit": 2000}),
            ]
        for path, arguments in calls:
            answer = client.get(path, query_string=arguments, headers=service.headers)
            assert answer.status_code == 200, answer.text
            described.check(path, 200, answer.json, set(answer.headers.keys()))
