"""GET /v1/meta and /v1/health: without envelope, without a key, and cached."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.in_process import Importer
from wallet_api.database import Connection
from wallet_api.settings import Settings

MakeApp = Callable[[Settings], Flask]
WALLET = {
    "blockchain": "solana",
    "type": "kol",
    "wallet_address": "So11111111111111111111111111111111111111112",
}


def _nobody_there(url: object) -> str:
    return str(url).replace("host=", "host=%2Fnonexistent")


def test_meta_lists_chains_and_types_without_an_envelope(client: FlaskClient, database_url: str) -> None:
    Importer(database_url).wallets([WALLET])
    answer = client.get("/v1/meta")
    assert answer.status_code == 200
    assert answer.headers["X-Request-ID"]
    assert answer.json == {
        "chains": ["solana", "bnb", "base", "eth"],
        "wallet_types": ["kol", "smart", "whale"],
        "periods": ["6h", "1d", "7d", "30d"],
        "currencies": {"solana": "SOL", "bnb": "BNB", "base": "ETH", "eth": "ETH"},
        "wallet_counts": {
            "solana": {"kol": 1, "smart": 0, "whale": 0},
            "bnb": {"kol": 0, "smart": 0},
            "base": {"kol": 0, "smart": 0},
            "eth": {"kol": 0},
        },
        "limits": {"max_limit": 1000, "batch_max_mints": 0, "batch_max_addresses": 0},
    }


@pytest.mark.parametrize("path", ["/v1/meta", "/v1/health"])
def test_a_key_is_ignored_and_any_other_parameter_refused(client: FlaskClient, path: str) -> None:
    for headers, query in (
        ({"Authorization": "Bearer nobody's"}, ""),
        ({}, "?api_key=nobody's"),
        ({}, "?api_key=a&api_key=b"),
        ({"Authorization": "Basic x"}, ""),
    ):
        answer = client.get(path + query, headers=headers)
        assert answer.status_code == 200
        assert not [name for name, _ in answer.headers if name.startswith(("X-RateLimit", "X-Credits"))]
    refused = client.get(f"{path}?chain=solana")
    assert (refused.status_code, refused.json["error"]["parameter"]) == (400, "chain")


def test_meta_is_the_last_one_while_the_database_is_away(
    client: FlaskClient, connection: Connection, settings: Settings, make_app: MakeApp
) -> None:
    first = client.get("/v1/meta").json
    connection.execute("ALTER TABLE wallet_groups RENAME TO gone")
    assert client.get("/v1/meta").json == first
    away = make_app(replace(settings, database_url=_nobody_there(settings.database_url))).test_client()
    answer = away.get("/v1/meta")
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "service_unavailable")
    assert answer.headers["Retry-After"] == "1"


def test_health_names_each_server(client: FlaskClient) -> None:
    body = client.get("/v1/health").json
    latency = body.pop("latency_ms")
    assert 0 <= latency < 1000
    assert body == {
        "status": "ok",
        "version": "1.0.0",
        "components": {"postgresql": "connected", "primary": "none", "valkey": "connected", "websockets": {}},
    }


@pytest.mark.parametrize(
    ("changes", "components", "status"),
    [
        (
            {"database_url": True},
            {"postgresql": "error", "primary": "none", "valkey": "connected"},
            "degraded",
        ),
        ({"valkey_url": None}, {"postgresql": "connected", "primary": "none", "valkey": "none"}, "ok"),
        (
            {"database_read_url": True},
            {"postgresql": "error", "primary": "connected", "valkey": "connected"},
            "degraded",
        ),
    ],
)
def test_a_server_that_is_away_degrades_the_service(
    settings: Settings, make_app: MakeApp, changes: dict[str, Any], components: dict[str, str], status: str
) -> None:
    away = _nobody_there(settings.database_url)
    own = {name: away if value is True else value for name, value in changes.items()}
    answer = make_app(replace(settings, **own)).test_client().get("/v1/health")
    assert (answer.status_code, answer.json["status"]) == (200, status)
    assert answer.json["components"] == components | {"websockets": {}}
    assert ("latency_ms" in answer.json) is (components["postgresql"] == "connected")
