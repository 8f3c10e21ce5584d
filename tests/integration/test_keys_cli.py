"""`wallet-api keys`, and how the service treats the keys."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from click.testing import Result
from flask.testing import FlaskClient

from tests.callers import WALLETS
from tests.processes import run_command
from wallet_api.database import Connection
from wallet_api.settings import Settings

Run = Callable[..., Result]


@pytest.fixture
def keys(settings: Settings) -> Run:
    """Runs `wallet-api keys` with these arguments."""
    return partial(run_command, "keys", settings=settings)


def _make(keys: Run, *arguments: str) -> str:
    made = keys("create", *arguments, "--json")
    assert made.exit_code == 0, made.output
    document = json.loads(made.stdout)
    assert set(document) == {"name", "key"}
    key: str = document["key"]
    return key


def _ask(client: FlaskClient, key: str) -> tuple[int, str | None]:
    answer = client.get(WALLETS, headers={"Authorization": f"Bearer {key}"})
    assert answer.json is not None
    return answer.status_code, answer.json.get("error", {}).get("reason")


def test_a_key_is_printed_once_and_only_its_hash_is_stored(
    keys: Run, client: FlaskClient, connection: Connection
) -> None:
    made = keys("create", "one")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    assert key.startswith("wk_")
    assert len(key) >= 35
    assert key not in made.stderr
    assert _ask(client, key) == (200, None)
    stored = connection.execute("SELECT api_keys::text AS row FROM api_keys").fetchall()
    assert key not in str(stored)
    assert key not in keys("list").stdout + keys("list", "--json").stdout
    assert _make(keys, "two") != key


def test_credits_and_rate_are_what_was_asked_for(keys: Run, client: FlaskClient) -> None:
    key = _make(keys, "one", "--credits", "2", "--rate", "30 / hour")
    answer = client.get(WALLETS, headers={"Authorization": f"Bearer {key}"})
    assert answer.headers["X-Credits-Remaining"] == "1"
    assert answer.headers["X-RateLimit-Limit"] == "30"


def test_a_revoked_key_does_not_work_and_stays_revoked_since_then(keys: Run, client: FlaskClient) -> None:
    key = _make(keys, "one")
    first, second = keys("revoke", "one"), keys("revoke", "one")
    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout
    assert _ask(client, key) == (403, "revoked_api_key")


def test_topped_up_credits_can_be_spent(keys: Run, client: FlaskClient) -> None:
    key = _make(keys, "one", "--credits", "0")
    assert _ask(client, key) == (403, "insufficient_credits")
    topped_up = keys("top-up", "one", "2")
    assert topped_up.exit_code == 0
    assert "2 credits" in topped_up.stdout
    assert [_ask(client, key)[0] for _ in range(3)] == [200, 200, 403]


def test_a_revoked_key_is_not_topped_up(keys: Run) -> None:
    _make(keys, "one", "--credits", "5")
    keys("revoke", "one")
    refused = keys("top-up", "one", "2")
    assert refused.exit_code == 1
    assert "the key 'one' is revoked permanently; create another one" in refused.stderr
    assert json.loads(keys("list", "--json").stdout)[0]["credits"] == 5


def test_the_list_shows_each_key_and_its_state(keys: Run) -> None:
    day = (datetime.now(UTC) + timedelta(days=9)).date().isoformat()
    _make(keys, "b", "--credits", "7", "--expires", day)
    _make(keys, "a", "--rate", "9/day")
    _make(keys, "c")
    keys("revoke", "c")
    listed = json.loads(keys("list", "--json").stdout)
    assert [(key["name"], key["credits"], key["rate"], key["expires_at"]) for key in listed] == [
        ("a", None, "9/day", None),
        ("b", 7, None, f"{day}T00:00:00Z"),
        ("c", None, None, None),
    ]
    assert [key["revoked_at"] is not None for key in listed] == [False, False, True]
    lines = keys("list").stdout.splitlines()
    assert lines[0].split() == [
        "NAME",
        "CREDITS",
        "RATE",
        "STATE",
        "CREATED",
        "LAST",
        "USED",
        "REQUESTS",
        "CHARGED",
    ]
    assert lines[1].split()[:4] == ["a", "unlimited", "9/day", "valid"]
    assert lines[2].split()[:5] == ["b", "7", "default", "expires", f"{day}T00:00:00Z"]
    assert lines[3].split()[:4] == ["c", "unlimited", "default", "revoked"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create", "taken"), "a key named 'taken' already"),
        (("create", ""), "1 to 100 printable characters"),
        (("create", " one"), "1 to 100 printable characters"),
        (("create", "o\nne"), "1 to 100 printable characters"),
        (("create", "x" * 101), "1 to 100 printable characters"),
        (("create", "one", "--rate", "300/week"), "COUNT/second, /minute, /hour or /day, such as 300/minute"),
        (("create", "one", "--rate", "lots"), "'lots' is not a rate"),
        (("create", "one", "--credits", "-1"), "whole number from 0"),
        (("create", "one", "--credits", "many"), "'many' is not a valid integer"),
        (("create", "one", "--expires", "2020-01-01"), "2020-01-01T00:00:00Z is in the past"),
        (("create", "one", "--expires", "tomorrow"), "'tomorrow' is not a date; write 2030-12-31"),
        (("revoke", "nobody"), "no key named 'nobody'"),
        (("top-up", "nobody", "1"), "no key named 'nobody'"),
        (("top-up", "taken", "0"), "whole number from 1"),
        (("top-up", "taken", "1"), "has no limit of credits"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(keys: Run, arguments: tuple[str, ...], message: str) -> None:
    _make(keys, "taken")
    failed = keys(*arguments)
    assert failed.exit_code != 0
    assert failed.stdout == ""
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr
    assert len(json.loads(keys("list", "--json").stdout)) == 1
