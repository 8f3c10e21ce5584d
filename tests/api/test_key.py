"""GET /v1/key: what a key may still do and was used for, for no credit, but counted as a request."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

WALLETS = "/v1/wallets?blockchain=solana&type=kol"


def _ask(client: FlaskClient, key: str, path: str = "/v1/key") -> TestResponse:
    return client.get(path, headers={"Authorization": f"Bearer {key}"})


def _state(client: FlaskClient, key: str) -> dict[str, Any]:
    response = _ask(client, key)
    assert response.status_code == 200
    assert "ETag" not in response.headers
    state: dict[str, Any] = response.get_json()["data"]
    assert response.headers["X-RateLimit-Limit"] == str(state["rate"]["limit"])
    assert response.headers["X-RateLimit-Remaining"] == str(state["rate"]["remaining"])
    reset = datetime.fromtimestamp(int(response.headers["X-RateLimit-Reset"]), UTC)
    assert state["rate"]["reset_at"] == f"{reset:%Y-%m-%dT%H:%M:%SZ}"
    return state


@pytest.mark.settings(credit_cost=2)
def test_a_key_sees_its_limit_and_its_credits(client: FlaskClient, connection: Connection) -> None:
    expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)
    key = create_key(connection, "bot", credits=3, rate="100/day", expires_at=expires_at)
    created_at = connection.fetch_value("SELECT created_at FROM api_keys")
    before = _state(client, key)
    assert before == {
        "name": "bot",
        "created_at": f"{created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "expires_at": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}",
        "rate": before["rate"] | {"limit": 100, "window_seconds": 86400, "remaining": 99},
        "credits": {"left": 3, "cost": 2},
        "used": {
            "today": {"requests": 0, "credits": 0},
            "month": {"requests": 0, "credits": 0},
            "by_operation": [],
        },
    }
    assert _ask(client, key, WALLETS).status_code == 200
    assert _ask(client, key, WALLETS).get_json()["error"]["reason"] == "insufficient_credits"
    # One credit is left, which pays for nothing; requests are still free.
    after = _state(client, key)
    assert after["credits"] == {"left": 1, "cost": 2}
    assert after["rate"]["remaining"] == 96


def test_a_key_without_limits_has_none(client: FlaskClient, connection: Connection) -> None:
    state = _state(client, create_key(connection, "operator"))
    assert state["expires_at"] is None
    assert state["credits"] == {"left": None, "cost": 1}


def test_a_key_sees_its_use_of_the_day_and_the_month_by_operation(
    client: FlaskClient, connection: Connection, settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    keys = {
        name: create_key(connection, name, **terms) for name, terms in (("bot", {"credits": 9}), ("free", {}))
    }
    app = make_app(settings)
    for key in keys.values():
        for path in (WALLETS, WALLETS, "/v1/wallets", "/v1/key"):
            _ask(app.test_client(), key, path)
    app.extensions["wallet_api"].close()
    today = datetime.now(UTC).date()
    for day in (today.replace(day=1), today.replace(day=1) - timedelta(days=1)):
        connection.execute(
            "INSERT INTO key_use SELECT key_id, %s, 'get_volume', 100, 90, now() FROM api_keys", [day]
        )
    more = 100 if today.day == 1 else 0
    for key in keys.values():
        assert _state(client, key)["used"] == {
            "today": {"requests": 4 + more, "credits": 2 + more * 9 // 10},
            "month": {"requests": 104, "credits": 92},
            "by_operation": [
                {"operation": "get_volume", "requests": 100, "credits": 90},
                {"operation": "list_wallets", "requests": 3, "credits": 2},
                {"operation": "get_key", "requests": 1, "credits": 0},
            ],
        }
