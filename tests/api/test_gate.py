"""The gate: which keys are refused, why, and for how long a key is trusted."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.api.conftest import ClientOf, NewCaller
from tests.ledger.caller import LIST, Caller
from tests.lib.outages import no_connections
from tests.lib.waiting import eventually
from wallet_api.api.access.views import view_of
from wallet_api.api.keys import create_key, key_hash, revoke_key
from wallet_api.database import Connection, connect, migrations
from wallet_api.settings import Settings

# What answers without a key. Whoever adds to this has thought about it.
KEYLESS = re.compile(
    r"/|/(healthz|readyz|metrics|docs|page|llms\.txt|skill\.md|v1/openapi\.json|v1/meta|v1/health)(/.*)?"
)
OK = (200, None, None)
MISSING = (401, "unauthorized", "missing_api_key")
INVALID = (403, "forbidden", "invalid_api_key")
REFUSED = (400, "invalid_parameter", None)
KEY = "the key"


def outcome(answer: TestResponse) -> tuple[int, Any, Any]:
    """The status; code and reason of an error."""
    assert answer.json is not None
    error = answer.json.get("error", {})
    return answer.status_code, error.get("code"), error.get("reason")


# The header, parameters, and the outcome.
REQUESTS: list[tuple[str | None, str, tuple[int, str | None, str | None]]] = [
    (f"Bearer {KEY}", "", OK),
    (f"BEARER  {KEY}", "", OK),
    (f"Bearer {KEY}", "&api_key=wk_wrong", OK),
    (None, f"&api_key={KEY}", OK),
    # A malformed header leaves it to the parameter.
    ("Basic d2s6d2s=", f"&api_key={KEY}", OK),
    *(
        (malformed, parameters, MISSING)
        for malformed in (None, "", "Bearer", "Bearer ", "Bearer two words", "Basic d2s6d2s=", "wk_alone")
        for parameters in ("", "&api_key=")
    ),
    ("Bearer wk_wrong", f"&api_key={KEY}", INVALID),
    ("Bearer wk_\xff\x80", "", INVALID),
    *(
        (None, f"&api_key={wrong}", INVALID)
        for wrong in ("wk_unknown", "x", "'; DROP TABLE api_keys; --", "wk_%00", "wk_%FF%FE", "w" * 5000)
    ),
    (None, f"&api_key={KEY}&api_key={KEY}", REFUSED),
    (f"Bearer {KEY}", "&api_key=a&api_key=b", REFUSED),
    ("Bearer wk_wrong", "&api_key=a&api_key=b", INVALID),
    # The key is checked before the arguments.
    (None, "&limit=0", MISSING),
    ("Bearer wk_wrong", "&limit=0", INVALID),
    (f"Bearer {KEY}", "&limit=0", REFUSED),
]


def test_a_key_is_taken_from_the_header_else_from_the_parameter(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller")
    for authorization, parameters, expected in REQUESTS:
        headers = {} if authorization is None else {"Authorization": authorization.replace(KEY, key)}
        # What is unknown is so at the second time too.
        for _ in range(2):
            answer = client.get(f"/v1{LIST}{parameters.replace(KEY, key)}", headers=headers)
            assert outcome(answer) == expected, (authorization, parameters)
            assert answer.headers.get("WWW-Authenticate") == ("Bearer" if expected == MISSING else None)


def test_a_key_in_another_form_is_explained_and_not_repeated(client: FlaskClient) -> None:
    for header, value in (
        ("Authorization", "wk_secret"),
        ("Authorization", "Basic wk_secret"),
        ("X-API-Key", "wk_secret"),
    ):
        answer = client.get(f"/v1{LIST}", headers={header: value})
        assert outcome(answer) == MISSING
        assert answer.get_json()["error"]["message"].endswith(f" The header {header} is not in this form.")
        assert "wk_secret" not in answer.text
    assert "header" not in client.get(f"/v1{LIST}").get_json()["error"]["message"]


def test_every_route_needs_a_key_or_is_named_here(app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        is_keyless = view_of(app, rule.endpoint).access == "keyless"
        assert is_keyless == bool(KEYLESS.fullmatch(rule.rule)), rule.rule
        if not is_keyless and not rule.arguments:
            method = "GET" if "GET" in (rule.methods or ()) else "POST"
            assert outcome(app.test_client().open(rule.rule, method=method)) == MISSING


def test_an_expired_key_is_refused_also_if_it_is_cached(new_caller: NewCaller) -> None:
    caller = new_caller(expires_at=datetime.now(UTC) + timedelta(seconds=1))
    assert caller.send().status_code == 200
    assert eventually(lambda: outcome(caller.send()) == (403, "forbidden", "expired_api_key"), 3)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_revoked_key_is_refused_within_the_cache_time(
    caller_of: NewCaller, connection: Connection, seconds: float
) -> None:
    caller = caller_of(key_cache_seconds=seconds)
    assert caller.send().status_code == 200
    revoke_key(connection, "caller")
    assert eventually(lambda: outcome(caller.send()) == (403, "forbidden", "revoked_api_key"), 1.5 * seconds)


@pytest.mark.settings(key_cache_seconds=1.0)
def test_a_key_whose_row_is_deleted_while_it_is_used_is_not_valid_any_more(
    caller: Caller, connection: Connection
) -> None:
    assert caller.send().status_code == 200
    connection.execute("DELETE FROM api_keys")
    assert eventually(lambda: outcome(caller.send()) == INVALID, 1.5)


def test_a_key_made_after_it_was_tried_works_a_second_later(caller: Caller, connection: Connection) -> None:
    connection.execute("UPDATE api_keys SET key_hash = sha256(key_hash)")
    assert outcome(caller.send()) == INVALID
    connection.execute("UPDATE api_keys SET key_hash = %s", [key_hash(caller.key)])
    assert outcome(caller.send()) == INVALID
    assert eventually(lambda: outcome(caller.send()) == OK, 3)


def test_a_known_key_is_not_looked_up_again_and_guessed_ones_evict_none(
    caller: Caller, connection: Connection
) -> None:
    assert caller.send().status_code == 200
    for guess in range(200):
        assert replace(caller, key=f"wk_{guess}").send().status_code == 403
    connection.execute("ALTER TABLE api_keys RENAME TO elsewhere")
    assert caller.send().status_code == 200


@pytest.mark.settings(key_cache_seconds=1.0, leaderboard_ttl_seconds=60.0)
def test_a_key_that_cannot_be_read_again_is_no_longer_trusted(
    caller: Caller, servers: Settings, connection: Connection
) -> None:
    statuses = [caller.send().status_code]

    def refused() -> bool:
        statuses.append(caller.send().status_code)
        return statuses[-1] != 200

    with no_connections(servers, connection):
        assert eventually(refused, 2, pause_seconds=0)
        statuses += caller.statuses(20)
    assert set(statuses) == {200, 503}
    assert statuses == sorted(statuses)


def test_keys_are_read_from_the_standby_and_balances_from_the_primary(
    client_of: ClientOf, connection: Connection, empty_database_url: str
) -> None:
    key = create_key(connection, "caller", credits=5)
    with connect(empty_database_url) as standby:
        migrations.migrate(standby)
        # As it was before all credits but one were bought.
        standby.execute(
            "INSERT INTO api_keys (name, key_hash, credits) VALUES ('caller', %s, 1)", [key_hash(key)]
        )
    caller = Caller(client_of(database_read_url=empty_database_url), key)
    answers = [caller.send() for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [403]
    assert [answer.headers["X-Credits-Remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
