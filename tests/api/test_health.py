"""The health checks, and what the service says of itself: /healthz, /readyz, /v1/health and /v1/meta."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from psycopg.sql import SQL, Identifier

from tests.api.conftest import ClientOf
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from wallet_api.api.responses.examples import ARGUMENTS
from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.database import Connection

READY = {"status": "ready", "database": "ok", "tables": "ok", "primary": "ok", "store": "ok"}
CONNECTED = {
    **dict.fromkeys(("postgresql", "primary", "valkey"), "connected"),
    **{"prices": "none", "websockets": {}},
}
# Stand for the URLs of a database that is away, and of the one that is not.
AWAY, HERE = "away", "here"


@pytest.mark.parametrize(
    ("changes", "readiness", "health", "components"),
    [
        ({}, {}, "ok", {}),
        ({"database_url": AWAY}, None, "degraded", {"postgresql": "error", "primary": "error"}),
        # Reads go on.
        (
            {"database_url": AWAY, "database_read_url": HERE},
            {"primary": "away"},
            "degraded",
            {"primary": "error"},
        ),
        ({"database_read_url": AWAY}, None, "degraded", {"postgresql": "error"}),
        ({"valkey_url": None}, {"store": "none"}, "ok", {"valkey": "none"}),
        # Each worker counts by itself.
        ({"valkey_url": "valkey://127.0.0.1:9"}, {"store": "away"}, "degraded", {"valkey": "error"}),
    ],
)
def test_a_service_is_ready_while_it_can_read_and_says_which_server_is_away(
    client_of: ClientOf,
    database_url: str,
    away_url: str,
    changes: dict[str, Any],
    readiness: dict[str, str] | None,
    health: str,
    components: dict[str, str],
) -> None:
    urls = {AWAY: away_url, HERE: database_url}
    client = client_of(**{name: urls.get(value, value) for name, value in changes.items()})
    alive = client.get("/healthz")
    assert (alive.status_code, alive.json["success"], alive.json["data"]) == (200, True, {"status": "ok"})
    assert alive.headers["X-Request-ID"] == alive.json["meta"]["request_id"]
    ready = client.get("/readyz")
    if readiness is None:
        assert (ready.status_code, ready.headers["Retry-After"]) == (503, "1")
        error = ready.json["error"]
        assert (error["code"], error["reason"]) == ("service_unavailable", "database")
        # The message names the setting.
        setting = max((name for name, value in changes.items() if value == AWAY), key=len).upper()
        assert f" {setting} " in error["message"]
    else:
        assert (ready.status_code, ready.json["data"]) == (200, READY | readiness)
    status = client.get("/v1/health").json
    latency = status.pop("latency_ms", None)
    away = {component: "away" for component, state in components.items() if state == "error"}
    assert status == {
        "status": health,
        "version": "1.0.0",
        "components": CONNECTED | components,
        "reasons": away,
    }
    assert (latency is not None) is ("postgresql" not in components)
    assert latency is None or 0 <= latency < 1000
    metrics = client.get("/metrics").text
    for name, component in (("database", "postgresql"), ("primary", "primary")):
        assert f"\nwallet_api_{name}_up {float(component not in components)}\n" in metrics
    # Counters are there without a database too.
    assert 'wallet_api_requests_total{operation="healthz",status="200"} 1.0' in metrics


@pytest.mark.parametrize("has_standby", [False, True])
def test_a_primary_that_refuses_to_write_is_named_also_if_it_is_alone(
    client_of: ClientOf, database_url: str, connection: Connection, has_standby: bool
) -> None:
    name = Identifier(connection.info.dbname)
    connection.execute(SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
    client = client_of(**({"database_read_url": f"{database_url}&application_name=x"} if has_standby else {}))
    health, ready = client.get("/v1/health").json, client.get("/readyz")
    assert (health["status"], health["reasons"]) == ("degraded", {"primary": "read-only"})
    assert health["components"] == CONNECTED | {"primary": "error"}
    assert (ready.status_code, ready.json["data"]) == (200, READY | {"primary": "read-only"})
    metrics = client.get("/metrics").text
    assert "\nwallet_api_primary_up 0.0\n" in metrics
    assert "\nwallet_api_database_up 1.0\n" in metrics


def test_missing_tables_are_named(
    client: FlaskClient, client_of: ClientOf, connection: Connection, empty_database_url: str
) -> None:
    connection.execute("DELETE FROM schema_migrations WHERE name LIKE '0002%'")
    for answer, name in (
        (client.get("/readyz"), "0002_"),
        (client_of(database_url=empty_database_url).get("/readyz"), "0001_"),
    ):
        assert (answer.status_code, answer.json["error"]["reason"]) == (503, "migrations")
        assert name in answer.json["error"]["message"]


def test_a_role_without_rights_is_not_ready(
    client_of: ClientOf, connection: Connection, database_url: str
) -> None:
    connection.execute("DROP ROLE IF EXISTS wallet_api_stranger")
    connection.execute("CREATE ROLE wallet_api_stranger LOGIN")
    own = urlsplit(database_url)
    url = own._replace(netloc=f"wallet_api_stranger@{own.netloc.rpartition('@')[2]}").geturl()
    answer = client_of(database_url=url).get("/readyz")
    connection.execute("DROP ROLE wallet_api_stranger")
    assert (answer.status_code, answer.json["error"]["reason"]) == (503, "database")
    assert "lacks a right" in answer.json["error"]["message"]


def test_meta_lists_chains_and_types_also_while_the_database_is_away(
    client: FlaskClient, client_of: ClientOf, away_url: str, connection: Connection, importer: Importer
) -> None:
    answer = client.get("/v1/meta")
    assert answer.headers["X-Request-ID"]
    served = answer.json
    operations = {served.pop("path"): served for served in served.pop("operations")}
    assert operations["/v1/wallet/leaderboard"]["periods"] == ["6h", "1d", "7d", "30d", "90d", "all"]
    assert {"blockchain", "type", "cursor", "amounts"} <= {*operations["/v1/wallets"]["parameters"]}
    assert served == {
        "chains": [*CHAINS],
        "wallet_types": [*WALLET_TYPES],
        "periods": ["1h", "6h", "1d", "7d", "30d", "90d", "all"],
        "formats": ["json", "csv", "ndjson"],
        "amounts": ["number", "string"],
        "currencies": {name: chain.currency for name, chain in CHAINS.items()},
        "wallet_counts": {
            **{name: dict.fromkeys(chain.types, 0) for name, chain in CHAINS.items()},
            "solana": {"kol": 2, "smart": 1, "whale": 1},
            "eth": {"kol": 1},
        },
        "limits": {
            "max_limit": 1000,
            "batch_max_mints": 100,
            "batch_max_addresses": 100,
            "signals_max_hours": 168,
            "timerange_max_seconds": 3600,
            "volume_max_seconds": 86_400,
        },
    }
    connection.execute("ALTER TABLE wallet_groups RENAME TO gone")
    assert client.get("/v1/meta").json["wallet_counts"] == served["wallet_counts"]
    refused = client_of(database_url=away_url).get("/v1/meta")
    assert (refused.status_code, refused.json["error"]["code"]) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"


def test_meta_says_what_requests_are_accepted(client: FlaskClient, caller: Caller) -> None:
    served = client.get("/v1/meta").json
    paths = {operation["path"]: operation for operation in served["operations"]}
    assert paths.keys() == client.get("/v1/openapi.json").json["paths"].keys()
    periods: set[str] = set()
    for path, operation in paths.items():
        error = caller.refused(path.removeprefix("/v1"), unknown="x")
        # An operation without arguments has none to allow.
        assert error.get("allowed", []) == operation["parameters"], path
        if "period" in operation["parameters"] and path != "/v1/analytics":
            given = {name: ARGUMENTS[name] for name in operation["parameters"] if name in ARGUMENTS}
            error = caller.refused(path.removeprefix("/v1"), **given | {"period": "x"})
            assert error["allowed"] == operation["periods"], path
        periods |= {*operation.get("periods", ())}
    assert periods == {*served["periods"]}


def test_a_key_is_ignored_and_any_other_parameter_refused(client: FlaskClient) -> None:
    for path in ("/v1/meta", "/v1/health"):
        for authorization, query in (
            ("Bearer nobody's", ""),
            ("Basic x", "?api_key=nobody's"),
            ("", "?api_key=a&api_key=b"),
        ):
            answer = client.get(path + query, headers={"Authorization": authorization})
            assert answer.status_code == 200
            assert not [name for name, _ in answer.headers if name.startswith(("X-RateLimit", "X-Credits"))]
        refused = client.get(f"{path}?chain=solana")
        assert (refused.status_code, refused.json["error"]["parameter"]) == (400, "chain")
        assert client.post(path).status_code == 405
