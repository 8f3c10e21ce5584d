"""The OpenAPI document has the arguments and responses of every route, and every response is valid for it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask.wrappers import Response
from marshmallow import fields
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.documents.described import Described
from tests.lib.serving import Shared
from wallet_api.api.access.views import view_of
from wallet_api.api.openapi import check, document
from wallet_api.api.responses.operation import Operation, is_alias, operation_of
from wallet_api.api.schemas.arguments import Arguments
from wallet_api.api.schemas.shapes import Shape
from wallet_api.base.errors import ApiError

Document = dict[str, Any]


@pytest.fixture(scope="module")
def own_document(shared: Shared) -> Document:
    return document(shared.app)


def test_the_document_is_valid_openapi_3_1_and_cached_until_it_changes(shared: Shared) -> None:
    client = shared.app.test_client()
    first = client.get("/v1/openapi.json")
    assert first.content_type == "application/json"
    assert first.json["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(first.json).validate()
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_every_route_is_described_or_an_alias_or_not_of_the_api(
    shared: Shared, own_document: Document
) -> None:
    app = shared.app
    rules = list(app.url_map.iter_rules())
    pages = {rule.rule for rule in rules if operation_of(app, rule.endpoint) is None}
    assert pages == {
        *("/", "/page/<name>", "/page/figures.json", "/docs", "/docs/<name>", "/v1/openapi.json"),
        *("/llms.txt", "/skill.md", "/healthz", "/readyz", "/metrics", "/mcp", "/mcp/"),
    }
    aliases = {rule.rule for rule in rules if is_alias(rule)}
    assert aliases == {"/v1/wallet/holdings", "/v1/wallet/tracking", "/v1/wallets/leaderboard"}
    described = [rule for rule in rules if rule.rule not in pages | aliases]
    assert set(own_document["paths"]) == {rule.rule for rule in described}
    for rule in described:
        keys = [] if view_of(app, rule.endpoint).access == "keyless" else [{"bearer": []}, {"api_key": []}]
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
    with pytest.raises(TypeError, match="`format` belong together"):
        Operation("rowless", "Wallets", "", arguments=Arguments(), data=_NamelessData(), rows="rows")
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
        assert re.fullmatch(r"(count|explain|get|list|look_up|search)(_[a-z]+)+", operation["operationId"])


def test_every_set_of_words_has_a_name_and_is_described_once(own_document: Document) -> None:
    schemas = own_document["components"]["schemas"]
    sets = {name: schemas[name]["enum"] for name in schemas if "enum" in schemas[name]}
    everything = json.dumps(own_document)
    assert everything.count('"enum"') == len(sets)
    assert len({frozenset(words) for words in sets.values()}) == len(sets)
    assert [name for name in sets if f'/schemas/{name}"' not in everything] == []


def test_generators_of_clients_find_names_and_formats_for_all(own_document: Document) -> None:
    schemas = own_document["components"]["schemas"]
    names = [name for schema in schemas.values() for name in schema.get("x-enum-varnames", ())]
    assert len(names) == sum(len(schema.get("enum", ())) for schema in schemas.values())
    # In Go they are all in one package, and with those of the schemas.
    assert len({name.lower().replace("_", "") for name in [*names, *schemas]}) == len(names) + len(schemas)
    assert all(re.fullmatch("[A-Z][A-Z0-9_]*", name) for name in names)
    for operation in (item["get"] for item in own_document["paths"].values()):
        given = [(parameter["in"], parameter["name"]) for parameter in operation["parameters"]]
        assert len({*given}) == len(given)
    # What is capped is accepted of any length; a count may be of more than 32 bits.
    unbounded = [
        parameter
        for item in own_document["paths"].values()
        for parameter in item["get"]["parameters"]
        if parameter["schema"].get("type") == "integer" and "maximum" not in parameter["schema"]
    ]
    capped = [one for one in unbounded if one["name"] in ("limit", "seconds", "minutes", "hours")]
    assert {one["schema"].get("format") for one in capped} == {None}
    assert {one["name"] for one in unbounded if one["schema"].get("format") == "int64"} == {
        *("min_txn", "min_closed", "min_active_days", "min_wallets", "min_transactions"),
    }
    without = [one["schema"] for one in capped]
    for node in _nodes(own_document):
        kinds = {*([kinds] if isinstance(kinds := node.get("type", ()), str) else kinds)}
        if "number" in kinds:
            assert node.get("format") == "double", node
        if "integer" in kinds and node not in without:
            assert node.get("format") == "int64", node
        assert not ("$ref" in node and "default" in node), node


def test_a_change_is_one_of_its_kinds_by_its_event(own_document: Document) -> None:
    schemas = own_document["components"]["schemas"]
    change = schemas["Change"]
    assert change["discriminator"]["propertyName"] == "event"
    events = change["discriminator"]["mapping"]
    assert {*events} == {"trade", "correction", "removal", "wallet_removal", "purge"}
    assert {*events.values()} == {kind["$ref"] for kind in change["oneOf"]}
    for kind in change["oneOf"]:
        assert {"event", "arrived_at"} <= {*schemas[kind["$ref"].rpartition("/")[2]]["required"]}
    for data, trade in (("Latest", "Trade"), ("TokenTransactions", "TokenTrade")):
        rows = schemas[data]["properties"]["transactions"]["items"]["anyOf"]
        assert [row["$ref"].rpartition("/")[2] for row in rows] == ["Change", trade]


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of the document but its examples."""
    if isinstance(node, dict):
        yield node
        for name, part in node.items():
            if name not in ("example", "examples", "properties"):
                yield from _nodes(part)
        yield from (found for part in node.get("properties", {}).values() for found in _nodes(part))
    elif isinstance(node, list):
        for part in node:
            yield from _nodes(part)


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
    like_times = re.compile(r"\w+_(at|seen|time|updated|since)|timestamp|as_of|before|since|until")
    assert times == {name for name, _ in properties if like_times.fullmatch(name)}
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
        # Of a wallet in a token.
        (False, "The wallet is not tracked. No tracked wallet of this chain ever traded the token."),
    }
    text = json.dumps(own_document)
    codes = {error.code for error in (ApiError, *ApiError.__subclasses__())}
    assert len(codes) >= 8
    reasons = ("missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key")
    reasons += ("insufficient_credits", "wallet_not_found", "token_not_found", "provider_not_configured")
    for word in (*codes, *reasons):
        assert f'"{word}"' in text


def test_without_tables_each_response_has_one_type_and_nothing_else_differs(shared: Shared) -> None:
    client = shared.app.test_client()
    whole, own = (client.get(f"/v1/openapi.json{query}").json for query in ("", "?format=json"))
    for path, item in own["paths"].items():
        operation, of_all = item["get"], whole["paths"][path]["get"]
        assert list(operation["responses"]["200"]["content"]) == ["application/json"], path
        tables = {"text/csv", "application/x-ndjson"} & set(of_all["responses"]["200"]["content"])
        left_out = [one for one in of_all["parameters"] if one not in operation["parameters"]]
        assert [one["name"] for one in left_out] == (["format", "bom"] if tables else []), path
        of_all["parameters"] = operation["parameters"]
        for name in tables:
            del of_all["responses"]["200"]["content"][name]
        if tables:
            for status in ("200", "304"):
                del of_all["responses"][status]["headers"]["X-Warnings"]
            # Its examples list all arguments.
            of_all["responses"]["400"] = operation["responses"]["400"]
    assert own == whole
    assert client.get("/v1/openapi.json?format=csv").json["error"]["allowed"] == ["json"]


@pytest.mark.settings(proxy_hops=1)
def test_the_server_is_where_the_document_was_requested(client: FlaskClient) -> None:
    for headers, url in (
        ({}, "http://localhost"),
        ({"Host": "api.example.com:8443", "X-Forwarded-Proto": "https"}, "https://api.example.com:8443"),
        ({"X-Forwarded-Prefix": "/wallets"}, "http://localhost/wallets"),
    ):
        for amounts in ("number", "string"):
            document = client.get(f"/v1/openapi.json?amounts={amounts}", headers=headers).json
            assert document["servers"] == [{"url": url}]
