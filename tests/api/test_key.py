"""GET /v1/key: what a key may still do and was used for, for no credit, but counted as a request."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import NewCaller
from tests.ledger.caller import LIST, Caller
from tests.lib.waiting import eventually
from wallet_api.app import create_app
from wallet_api.database import Connection
from wallet_api.settings import Settings, SettingsError


def _state(caller: Caller) -> dict[str, Any]:
    response = caller.send("/key")
    assert response.status_code == 200
    assert "ETag" not in response.headers
    state: dict[str, Any] = response.get_json()["data"]
    assert response.headers["X-RateLimit-Limit"] == str(state["rate"]["limit"])
    assert response.headers["X-RateLimit-Remaining"] == str(state["rate"]["remaining"])
    reset = datetime.fromtimestamp(int(response.headers["X-RateLimit-Reset"]), UTC)
    assert state["rate"]["reset_at"] == f"{reset:%Y-%m-%dT%H:%M:%SZ}"
    return state


@pytest.mark.settings(credit_cost=2)
def test_a_key_sees_its_limit_and_its_credits(new_caller: NewCaller, connection: Connection) -> None:
    expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)
    caller = new_caller("bot", credits=3, rate="100/day", expires_at=expires_at)
    created_at = connection.fetch_value("SELECT created_at FROM api_keys")
    before = _state(caller)
    assert before == {
        "name": "bot",
        "created_at": f"{created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "expires_at": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}",
        "rate": before["rate"] | {"limit": 100, "window_seconds": 86400, "remaining": 99},
        "credits": {"left": 3, "cost": 2, "costs": {}},
        "scope": {"chains": None, "types": None, "operations": None},
        "used": {
            "today": {"requests": 0, "credits": 0},
            "month": {"requests": 0, "credits": 0},
            "by_operation": [],
        },
    }
    assert caller.send().status_code == 200
    assert caller.refused(LIST)["reason"] == "insufficient_credits"
    # One credit is left, which pays for nothing; requests are still free.
    after = _state(caller)
    assert after["credits"] == {"left": 1, "cost": 2, "costs": {}}
    assert after["rate"]["remaining"] == 96


def test_a_key_sees_its_use_of_the_day_and_the_month_by_operation(
    new_caller: NewCaller, connection: Connection, settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    callers = [new_caller("bot", credits=9), new_caller("free")]
    app = make_app(settings)
    for caller in callers:
        for path in (LIST, LIST, "/wallets", "/key"):
            replace(caller, client=app.test_client()).send(path)
    app.extensions["wallet_api"].close()
    today = datetime.now(UTC).date()
    for day in (today.replace(day=1), today.replace(day=1) - timedelta(days=1)):
        connection.execute(
            "INSERT INTO key_use SELECT key_id, %s, 'get_volume', 100, 90, now() FROM api_keys", [day]
        )
    more = 100 if today.day == 1 else 0
    for caller in callers:
        assert _state(caller)["used"] == {
            "today": {"requests": 4 + more, "credits": 2 + more * 9 // 10},
            "month": {"requests": 104, "credits": 92},
            "by_operation": [
                {"operation": "get_volume", "requests": 100, "credits": 90},
                {"operation": "list_wallets", "requests": 3, "credits": 2},
                {"operation": "get_key", "requests": 1, "credits": 0},
            ],
        }


@pytest.mark.settings(credit_cost=2, credit_costs=(("list_wallets", 5), ("get_volume", 1)))
def test_operations_can_have_costs_of_their_own(new_caller: NewCaller, connection: Connection) -> None:
    caller, free = new_caller(credits=9), new_caller("free")
    feed = "/transactions/latest?blockchain=solana&type=kol"
    volume = "/transactions/volume?blockchain=solana&type=kol"
    costs = {"list_wallets": 5, "get_volume": 1}
    assert _state(caller)["credits"] == {"left": 9, "cost": 2, "costs": costs}
    left = [caller.send(path).headers["X-Credits-Remaining"] for path in (LIST, feed, volume)]
    assert left == ["4", "2", "1"]
    # One credit is left, which still pays for the cheapest.
    answers = [caller.send(path).status_code for path in (LIST, feed, volume, volume)]
    assert answers == [403, 403, 200, 403]
    assert connection.fetch_value("SELECT credits FROM api_keys WHERE name = 'caller'") == 0
    # Many requests of a key with many credits are settled together.
    rich = new_caller("rich", credits=1_000_000)
    assert [rich.send(path).status_code for path in (LIST, LIST, volume)] == [200] * 3
    left = "SELECT credits FROM api_keys WHERE name = 'rich'"
    assert eventually(lambda: connection.fetch_value(left) == 1_000_000 - 11)
    assert (_state(free)["expires_at"], _state(free)["credits"]["left"]) == (None, None)
    # Of a key without a limit too, what it would have cost is counted.
    assert free.send(LIST).status_code == 200


def test_costs_of_operations_that_do_not_exist_are_refused(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="CREDIT_COSTS names no operation: get_wallet; they are count_"):
        create_app(replace(settings, credit_costs=(("get_wallet", 2),)))
