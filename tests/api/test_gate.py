"""The gate: which requests are refused, why, in the order of the checks, and what is never logged."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.callers import WALLETS
from tests.outages import no_connections
from wallet_api import migrations
from wallet_api.access.gate import is_keyless
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key, key_hash, revoke_key
from wallet_api.settings import Settings

# What answers without a key. Whoever adds to this has thought about it.
KEYLESS = re.compile(r"/|/(healthz|readyz|metrics|docs|v1/openapi\.json|v1/meta|v1/health)(/.*)?")


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _refusal(answer: TestResponse) -> tuple[int, str, str | None]:
    """The status, code and reason of an error."""
    assert answer.content_type == "application/json"
    document = answer.json
    assert document is not None
    assert set(document) == {"success", "error", "meta"}
    assert document["success"] is False
    assert set(document["error"]) <= {"code", "message", "request_id", "reason", "parameter", "allowed"}
    assert document["error"]["request_id"] == document["meta"]["request_id"] == answer.headers["X-Request-ID"]
    assert document["error"]["message"]
    return answer.status_code, document["error"]["code"], document["error"].get("reason")


MISSING = (401, "unauthorized", "missing_api_key")
INVALID = (403, "forbidden", "invalid_api_key")


@pytest.fixture
def key(connection: Connection) -> str:
    """A key that works."""
    return create_key(connection, "caller")


def test_a_key_works_in_the_header_and_as_a_parameter(client: FlaskClient, key: str) -> None:
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200
    assert client.get(f"{WALLETS}&api_key={key}").status_code == 200


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
def test_the_scheme_may_be_written_in_any_case(client: FlaskClient, key: str, scheme: str) -> None:
    assert client.get(WALLETS, headers={"Authorization": f"{scheme} {key}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer two words"},
        {"Authorization": "Basic d2s6d2s="},
        {"Authorization": "wk_without_a_scheme"},
        {"X-API-Key": "wk_elsewhere"},
    ],
)
def test_no_key_or_a_malformed_header_is_401(client: FlaskClient, headers: dict[str, str]) -> None:
    for path in (WALLETS, f"{WALLETS}&api_key="):
        answer = client.get(path, headers=headers)
        assert _refusal(answer) == MISSING
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_malformed_header_leaves_it_to_the_parameter(client: FlaskClient, key: str) -> None:
    answer = client.get(f"{WALLETS}&api_key={key}", headers={"Authorization": "Basic d2s6d2s="})
    assert answer.status_code == 200


def test_the_header_wins_over_the_parameter(client: FlaskClient, key: str) -> None:
    assert client.get(f"{WALLETS}&api_key=wk_wrong", headers=_bearer(key)).status_code == 200
    assert _refusal(client.get(f"{WALLETS}&api_key={key}", headers=_bearer("wk_wrong"))) == INVALID


@pytest.mark.parametrize(
    "wrong",
    [
        "wk_unknown",
        "x",
        "'; DROP TABLE api_keys; --",
        "wk_%00",
        "wk_%FF%FE",
        "%F0%9F%90%B3",
        "wk_" + "x" * 5000,
    ],
)
def test_any_other_key_is_403_twice_over(client: FlaskClient, key: str, wrong: str) -> None:
    for _ in range(2):
        assert _refusal(client.get(f"{WALLETS}&api_key={wrong}")) == INVALID
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200


def test_a_header_that_is_not_ascii_is_403(client: FlaskClient) -> None:
    assert _refusal(client.get(WALLETS, headers={"Authorization": "Bearer wk_\xff\x80"})) == INVALID


def test_a_key_given_twice_is_400(client: FlaskClient, key: str) -> None:
    twice = f"{WALLETS}&api_key={key}&api_key={key}"
    for answer in (client.get(twice), client.get(twice, headers=_bearer(key))):
        assert _refusal(answer) == (400, "invalid_parameter", None)
        assert answer.json is not None
        assert answer.json["error"]["parameter"] == "api_key"
    assert _refusal(client.get(twice, headers=_bearer("wk_wrong"))) == INVALID


def test_the_key_is_checked_before_the_arguments(client: FlaskClient, key: str) -> None:
    assert _refusal(client.get("/v1/wallets")) == MISSING
    assert _refusal(client.get("/v1/wallets?api_key=wk_wrong")) == INVALID
    assert _refusal(client.get(f"/v1/wallets?api_key={key}"))[:2] == (400, "invalid_parameter")


def test_every_route_needs_a_key_or_is_named_here(app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        assert is_keyless(app, rule.endpoint) == bool(KEYLESS.fullmatch(rule.rule)), rule.rule
        if not is_keyless(app, rule.endpoint) and not rule.arguments:
            assert _refusal(app.test_client().get(rule.rule)) == MISSING


def test_an_expired_key_is_403(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", expires_at=datetime.now(UTC) + timedelta(seconds=1))
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200
    # The key is in the cache, and expires there.
    assert _refused_within(client, key, 3.0) == (403, "forbidden", "expired_api_key")


def test_a_revoked_key_is_403_within_the_cache_time(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, key_cache_seconds=1.0)).test_client()
    key = create_key(connection, "caller")
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200
    revoke_key(connection, "caller")
    assert _refused_within(client, key, 1.5) == (403, "forbidden", "revoked_api_key")


def test_without_a_cache_time_a_key_is_revoked_at_once(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, key_cache_seconds=0.0)).test_client()
    key = create_key(connection, "caller")
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200
    revoke_key(connection, "caller")
    refused = client.get(WALLETS, headers=_bearer(key))
    assert _refusal(refused) == (403, "forbidden", "revoked_api_key")


def test_a_key_made_after_it_was_tried_works_a_second_later(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller")
    connection.execute("UPDATE api_keys SET key_hash = sha256(key_hash)")
    assert _refusal(client.get(WALLETS, headers=_bearer(key))) == INVALID
    connection.execute("UPDATE api_keys SET key_hash = sha256(%s::bytea)", [key.encode()])
    assert _refusal(client.get(WALLETS, headers=_bearer(key))) == INVALID
    pause = threading.Event()
    deadline = time.monotonic() + 3
    while client.get(WALLETS, headers=_bearer(key)).status_code == 403:
        assert time.monotonic() < deadline
        pause.wait(0.05)


def _refused_within(client: FlaskClient, key: str, seconds: float) -> tuple[int, str, str | None]:
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while (answer := client.get(WALLETS, headers=_bearer(key))).status_code == 200:
        assert time.monotonic() < deadline, "the key still works"
        pause.wait(0.05)
    return _refusal(answer)


def test_a_known_key_is_not_looked_up_again(client: FlaskClient, connection: Connection, key: str) -> None:
    client.get(WALLETS, headers=_bearer(key))
    connection.execute("ALTER TABLE api_keys RENAME TO elsewhere")
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200


def test_guessed_keys_evict_no_valid_key(client: FlaskClient, connection: Connection, key: str) -> None:
    client.get(WALLETS, headers=_bearer(key))
    for guess in range(200):
        assert client.get(WALLETS, headers=_bearer(f"wk_{guess}")).status_code == 403
    connection.execute("ALTER TABLE api_keys RENAME TO elsewhere")
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200


@pytest.mark.settings(key_cache_seconds=1.0, answer_ttl_seconds=60.0)
def test_a_key_that_cannot_be_read_again_is_no_longer_trusted(
    client: FlaskClient, servers: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="1000000/day")
    assert client.get(WALLETS, headers=_bearer(key)).status_code == 200
    began = time.monotonic()
    with no_connections(servers, connection):
        statuses = []
        while time.monotonic() < began + 1.5:
            statuses.append(client.get(WALLETS, headers=_bearer(key)).status_code)
    assert set(statuses) == {200, 503}
    assert statuses == sorted(statuses)


def test_keys_are_read_from_the_standby_and_balances_from_the_primary(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    empty_database_url: str,
) -> None:
    key = create_key(connection, "caller", credits=5)
    with connect(empty_database_url) as standby:
        migrations.migrate(standby)
        # As it was before all credits but one were bought.
        standby.execute(
            "INSERT INTO api_keys (name, key_hash, credits) VALUES ('caller', %s, 1)", [key_hash(key)]
        )
    client = make_app(replace(settings, database_read_url=empty_database_url)).test_client()
    answers = [client.get(WALLETS, headers=_bearer(key)) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [403]
    assert [answer.headers["X-Credits-Remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]


def test_with_the_database_away_the_response_is_503(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    away = replace(settings, database_url="postgresql://127.0.0.1:9/nothing")
    answer = make_app(away).test_client().get(WALLETS, headers=_bearer("wk_any"))
    assert _refusal(answer)[:2] == (503, "service_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
