"""GET /v1/key: what a key may still do, for no credit, but counted as a request."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from wallet_api.database import Connection
from wallet_api.keys import create_key

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
    }
    assert _ask(client, key, WALLETS).status_code == 200
    assert _ask(client, key, WALLETS).get_json()["error"]["reason"] == "insufficient_credits"
    # One credit is left, which pays for nothing; the key can still ask.
    after = _state(client, key)
    assert after["credits"] == {"left": 1, "cost": 2}
    assert after["rate"]["remaining"] == 96


def test_a_key_without_limits_has_none(client: FlaskClient, connection: Connection) -> None:
    state = _state(client, create_key(connection, "operator"))
    assert state["expires_at"] is None
    assert state["credits"] == {"left": None, "cost": 1}
