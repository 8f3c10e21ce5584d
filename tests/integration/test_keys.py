"""`wallet-api keys` and `wallet-api usage`, and how the service treats the keys."""

import csv
import io
import json
import os
import pty
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient

from tests.lib.callers import WALLETS, call_at_once
from tests.lib.outages import read_only
from tests.lib.processes import StartGunicorn, run_command, wallet_api
from tests.lib.waiting import PATIENCE_SECONDS, eventually, somebody_waits
from wallet_api.api.keys import create_key, rotate_key, set_key
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

Row = dict[str, Any]
Run = Callable[..., Result]

TODAY = datetime.now(UTC).date()


@pytest.fixture
def run(settings: Settings) -> Run:
    """Runs `wallet-api` with these arguments."""
    return partial(run_command, settings=settings)


def document(run: Run, *arguments: str) -> Any:
    """Run a command with --json, which must succeed, and return what it prints."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def outcome_of(client: FlaskClient, key: str, path: str = WALLETS, **options: Any) -> tuple[int, str | None]:
    """Send a request, and return its status and the reason of its error."""
    response = client.open(path, headers={"Authorization": f"Bearer {key}"}, **options)
    body = response.get_json(silent=True) or {}
    return response.status_code, body.get("error", {}).get("reason")


def test_a_key_is_printed_once_and_only_its_hash_is_stored(
    run: Run, client: FlaskClient, connection: Connection
) -> None:
    made = run("keys", "create", "one")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    assert key.startswith("wk_")
    assert len(key) >= 35
    assert key not in made.stderr
    assert outcome_of(client, key) == (200, None)
    stored = connection.execute("SELECT api_keys::text AS row FROM api_keys").fetchall()
    assert key not in str(stored)
    assert key not in run("keys", "list").stdout + run("keys", "list", "--json").stdout
    other = document(run, "keys", "create", "two")
    assert set(other) == {"name", "key"}
    assert other["key"] != key


def test_the_list_shows_each_key_and_its_state(run: Run) -> None:
    day = (datetime.now(UTC) + timedelta(days=9)).date().isoformat()
    run("keys", "create", "b", "--credits", "7", "--expires", day)
    run("keys", "create", "a", "--rate", "9/day")
    run("keys", "create", "c")
    run("keys", "revoke", "c")
    listed = document(run, "keys", "list")
    assert [(key["name"], key["credits"], key["rate"], key["expires_at"]) for key in listed] == [
        ("a", None, "9/day", None),
        ("b", 7, None, f"{day}T00:00:00Z"),
        ("c", None, None, None),
    ]
    assert [key["revoked_at"] is not None for key in listed] == [False, False, True]
    lines = run("keys", "list").stdout.splitlines()
    assert " ".join(lines[0].split()) == "NAME CREDITS RATE STATE CREATED LAST USED REQUESTS CHARGED"
    assert lines[1].split()[:4] == ["a", "unlimited", "9/day", "valid"]
    assert lines[2].split()[:5] == ["b", "7", "default", "expires", f"{day}T00:00:00Z"]
    assert lines[3].split()[:4] == ["c", "unlimited", "default", "revoked"]


def test_use_is_settled_by_key_day_and_operation_whatever_the_response(
    run: Run, settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    apps = [make_app(settings) for _ in range(2)]
    client, other = (app.test_client() for app in apps)
    poor, free = create_key(connection, "poor", credits=2), create_key(connection, "free", rate="3/day")
    create_key(connection, "idle")
    assert [outcome_of(client, poor)[0] for _ in range(3)] == [200, 200, 403]
    assert outcome_of(client, poor, "/v1/key")[0] == 200
    # That of several services adds up.
    assert outcome_of(other, poor, "/v1/wallets")[0] == 403
    assert outcome_of(client, free, method="HEAD")[0] == 200
    statuses = [
        outcome_of(each, free, "/v1/transactions/volume?blockchain=solana&type=kol")[0]
        for each in (client, other, client)
    ]
    assert statuses == [200, 200, 429]
    assert outcome_of(client, "wk_unknown")[0] == 403
    assert client.get("/healthz").status_code == 200
    for app in apps:
        app.extensions["wallet_api"].close()

    day = TODAY.isoformat()
    rows = [
        (row["name"], row["day"], row["operation"], row["requests"], row["credits"])
        for row in document(run, "usage")
    ]
    assert rows == [
        # What it would have cost, since there is no limit.
        ("free", day, "get_volume", 3, 2),
        ("free", day, "list_wallets", 1, 1),
        ("poor", day, "get_key", 1, 0),
        ("poor", day, "list_wallets", 4, 2),
    ]
    lines = [line.split() for line in run("usage", "poor").stdout.splitlines()]
    assert lines[0] == ["NAME", "DAY", "OPERATION", "REQUESTS", "CREDITS"]
    assert lines[1:] == [["poor", day, "get_key", "1", "0"], ["poor", day, "list_wallets", "4", "2"]]
    text = run("usage", "poor", "--csv").stdout
    assert list(csv.reader(io.StringIO(text)))[1:] == [
        ["poor", day, "get_key", "1", "0"],
        ["poor", day, "list_wallets", "4", "2"],
    ]
    listed = {row["name"]: row for row in document(run, "keys", "list")}
    assert {name: (row["requests_today"], row["credits_30_days"]) for name, row in listed.items()} == {
        "free": (4, 3),
        "idle": (0, 0),
        "poor": (5, 2),
    }
    assert listed["idle"]["last_used_at"] is None
    assert re.fullmatch(rf"{day}T.*Z", listed["free"]["last_used_at"])
    shown = document(run, "keys", "show", "poor")
    assert shown["operations_30_days"] == [
        {"operation": "list_wallets", "requests": 4, "credits": 2},
        {"operation": "get_key", "requests": 1, "credits": 0},
    ]
    lines = run("keys", "show", "poor").stdout.splitlines()
    assert "Requests   5 / 5" in lines
    assert "Charged    2 / 2" in lines
    assert lines[-2].split() == ["list_wallets", "4", "2"]


def test_use_of_earlier_days_counts_where_it_belongs(run: Run, connection: Connection) -> None:
    assert "There are no keys." in run("keys", "list").stdout
    create_key(connection, "one")
    for age, requests_, credits in ((0, 1, 1), (29, 10, 5), (30, 100, 50), (400, 1000, 500)):
        connection.execute(
            "INSERT INTO key_use SELECT key_id, %s, 'wallets', %s, %s, %s FROM api_keys",
            [TODAY - timedelta(days=age), requests_, credits, datetime.now(UTC) - timedelta(days=age)],
        )
    (row,) = document(run, "keys", "list")
    names = ("requests_today", "requests_30_days", "credits_today", "credits_30_days")
    assert [row[name] for name in names] == [1, 11, 1, 6]
    assert [row["requests"] for row in document(run, "usage")] == [10, 1]
    since = (TODAY - timedelta(days=30)).isoformat()
    assert [row["requests"] for row in document(run, "usage", "--since", since)] == [100, 10, 1]
    assert [row["requests"] for row in document(run, "usage", "--until", TODAY.isoformat())] == [10]
    create_key(connection, "other")
    assert document(run, "usage", "other") == []
    assert run("usage", "other").stdout == "No key was used in this time.\n"
    unknown = run("usage", "nobody")
    assert (unknown.exit_code, "there is no key named 'nobody'" in unknown.stderr) == (1, True)
    assert run("usage", "--csv", "--json").exit_code == 2


def test_use_that_cannot_be_settled_waits_in_memory(
    run: Run,
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("wallet_api.api.access.use.SETTLE_SECONDS", 0.1)
    app = make_app(settings)
    key = create_key(connection, "one")
    connection.execute("ALTER TABLE key_use RENAME TO away")
    assert outcome_of(app.test_client(), key)[0] == 200
    assert eventually(lambda: "use: failed and will be repeated" in caplog.text)
    connection.execute("ALTER TABLE away RENAME TO key_use")
    app.extensions["wallet_api"].close()
    assert [row["requests"] for row in document(run, "usage")] == [1]


def test_a_stop_while_the_database_is_read_only_loses_the_use_since_then_and_no_credit(
    settings: Settings, connection: Connection, servers: Settings, gunicorn: StartGunicorn
) -> None:
    server = gunicorn(settings, workers=1)
    one, poor = create_key(connection, "one"), create_key(connection, "poor", credits=50)

    def statuses() -> list[int]:
        headers = [{"Authorization": f"Bearer {key}"} for key in (one, poor)]
        return [requests.get(server.url + WALLETS, headers=each, timeout=60).status_code for each in headers]

    assert statuses() == [200, 200]
    with read_only(servers, connection):
        # Credits are exact: a key that has some is refused, since it cannot be charged.
        assert eventually(lambda: statuses() == [200, 503])
        assert server.stop() == 0
    assert "The use of keys lacks" in server.log
    assert connection.fetch_value("SELECT credits FROM api_keys WHERE name = 'poor'") == 49


@pytest.mark.settings(key_cache_seconds=0)
def test_both_secrets_of_a_rotated_key_have_one_balance_and_one_rate(
    run: Run, client: FlaskClient, connection: Connection
) -> None:
    old = create_key(connection, "one", credits=5, rate="6/day")
    assert outcome_of(client, old) == (200, None)
    rotated = document(run, "keys", "rotate", "one", "--overlap", "2h")
    new, until = rotated["key"], datetime.fromisoformat(rotated["previous_until"])
    assert set(rotated) == {"name", "key", "previous_until"}
    assert timedelta(minutes=119) < until - datetime.now(UTC) <= timedelta(hours=2)
    assert [outcome_of(client, secret)[0] for secret in (new, old, new, old)] == [200] * 4
    assert outcome_of(client, new) == (403, "insufficient_credits")
    assert run("keys", "top-up", "one", "1").stdout == "one has 1 credits.\n"
    assert outcome_of(client, old)[0] == 429
    assert outcome_of(client, new)[0] == 429
    assert connection.fetch_value("SELECT credits FROM api_keys") == 1
    assert "rotated, both until" in run("keys", "list").stdout


@pytest.mark.settings(key_cache_seconds=0)
@pytest.mark.parametrize("overlap", ["0h", "0s", "0"])
def test_a_key_says_when_its_secret_expires_and_the_old_one_ends_with_the_overlap(
    run: Run, client: FlaskClient, connection: Connection, overlap: str
) -> None:
    expires = (TODAY + timedelta(days=60)).isoformat()
    old = document(run, "keys", "create", "one", "--expires", expires)["key"]
    first = document(run, "keys", "rotate", "one")

    def expires_at(key: str) -> str:
        response = client.get("/v1/key", headers={"Authorization": f"Bearer {key}"})
        return str(response.get_json()["data"]["expires_at"])

    assert expires_at(old) == first["previous_until"]
    assert expires_at(first["key"]) == f"{expires}T00:00:00Z"
    second = document(run, "keys", "rotate", "one", "--overlap", overlap)
    assert outcome_of(client, old) == (403, "invalid_api_key")
    assert outcome_of(client, first["key"]) == (403, "expired_api_key")
    assert outcome_of(client, second["key"]) == (200, None)
    assert "The key before it is accepted until " in run("keys", "rotate", "one").stderr


@pytest.mark.settings(key_cache_seconds=0.2)
def test_a_worker_that_knows_a_key_learns_of_its_rotation(
    client: FlaskClient, connection: Connection
) -> None:
    old = create_key(connection, "one")

    def status(key: str) -> int:
        return outcome_of(client, key)[0]

    assert status(old) == 200
    new, _ = rotate_key(connection, "one", timedelta(hours=1))
    assert (status(new), status(old)) == (200, 200)
    connection.execute("UPDATE api_keys SET previous_until = now()")
    assert eventually(lambda: (status(new), status(old)) == (200, 403))
    newest, _ = rotate_key(connection, "one", timedelta(0))
    assert eventually(lambda: [status(key) for key in (newest, new, old)] == [200, 403, 403])


@pytest.mark.settings(key_cache_seconds=0)
def test_rate_and_expiry_are_set_and_unset(run: Run, client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "one", credits=7, rate="9/day")
    day = (TODAY + timedelta(days=9)).isoformat()
    for typed, rate in (
        *(("1/second", "1/second"), (" 300 / Minute ", "300/minute")),
        *(("999999999999/day", "999999999999/day"), ("20 / hour", "20/hour")),
    ):
        assert run("keys", "set", "one", "--rate", typed).stdout == (
            f"one has 7 credits, the rate {rate}, and does not expire.\n"
        )
    assert run("keys", "set", "one", "--expires", day).stdout == (
        f"one has 7 credits, the rate 20/hour, and expires {day}T00:00:00Z.\n"
    )
    response = client.get("/v1/key", headers={"Authorization": f"Bearer {key}"}).get_json()["data"]
    assert (response["rate"]["limit"], response["credits"]["left"]) == (20, 7)
    warned = run("keys", "list")
    assert f"Warning: expires within 14 days: one ({day}T00:00:00Z)" in warned.stderr
    assert "Warning: expires" in run("keys", "show", "one").stderr
    assert run("keys", "set", "one", "--rate", "default", "--expires", "never").stdout == (
        "one has 7 credits, the rate default, and does not expire.\n"
    )
    assert "Warning" not in run("keys", "list").stderr


def a_month_passes(connection: Connection) -> None:
    """Let the credits of all keys be those of a month ago."""
    connection.execute("UPDATE api_keys SET credits_month = credits_month - interval '1 month'")


@pytest.mark.settings(key_cache_seconds=0)
def test_a_monthly_balance_begins_again_with_the_first_charge_of_a_month(
    run: Run, client: FlaskClient, connection: Connection
) -> None:
    key = document(run, "keys", "create", "one")["key"]
    headers = {"Authorization": f"Bearer {key}"}
    said = run("keys", "set", "one", "--monthly", "3").stdout
    assert said == "one has 3 (3 a month) credits, the rate default, and does not expire.\n"
    assert [outcome_of(client, key)[0] for _ in range(4)] == [200, 200, 200, 403]
    # Not before the month has ended.
    assert outcome_of(client, key)[0] == 403
    assert run("keys", "top-up", "one", "5").stdout == "one has 5 credits.\n"
    assert outcome_of(client, key)[0] == 200
    a_month_passes(connection)
    # What was added is gone too; nothing is written before the first charge.
    assert client.get("/v1/key", headers=headers).get_json()["data"]["credits"]["left"] == 3
    assert document(run, "keys", "list")[0]["credits"] == 3
    assert [outcome_of(client, key)[0] for _ in range(4)] == [200, 200, 200, 403]
    assert connection.fetch_value("SELECT credits FROM api_keys") == 0
    a_month_passes(connection)
    assert run("keys", "top-up", "one", "5").stdout == "one has 8 credits.\n"
    # Until the next month.
    assert run("keys", "set", "one", "--credits", "1").exit_code == 0
    assert [outcome_of(client, key)[0] for _ in range(2)] == [200, 403]
    a_month_passes(connection)
    assert outcome_of(client, key)[0] == 200
    assert run("keys", "set", "one", "--monthly", "none").exit_code == 0
    a_month_passes(connection)
    assert [outcome_of(client, key)[0] for _ in range(3)] == [200, 200, 403]
    assert run("keys", "set", "one", "--monthly", "9").exit_code == 0
    assert run("keys", "set", "one", "--credits", "unlimited").exit_code == 0
    a_month_passes(connection)
    assert outcome_of(client, key) == (200, None)
    assert document(run, "keys", "list")[0]["monthly"] is None


def test_the_credits_of_a_month_are_exact_over_its_end(
    run: Run, gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "one", rate="1000000/second")
    assert run("keys", "set", "one", "--monthly", "200").exit_code == 0
    server = gunicorn(settings, workers=3)
    url, headers = f"{server.url}{WALLETS}", {"Authorization": f"Bearer {key}"}
    assert call_at_once(server.url, key, 260, callers=12) == {200: 200, 403: 60}
    a_month_passes(connection)
    assert eventually(lambda: requests.get(url, headers=headers, timeout=60).status_code == 200)
    answers = call_at_once(server.url, key, 260, callers=12)
    # But for the response above.
    assert answers == {200: 199, 403: 61}


@pytest.mark.settings(key_cache_seconds=0)
def test_a_key_for_each_month_begins_with_its_credits_and_shows_when_they_renew(
    run: Run, client: FlaskClient, connection: Connection
) -> None:
    key = document(run, "keys", "create", "plan", "--monthly", "2")["key"]
    begun = document(run, "keys", "create", "begun", "--monthly", "2", "--credits", "1")["key"]
    today = datetime.now(UTC)
    renews_at = f"{(today.replace(day=1) + timedelta(days=32)).replace(day=1):%Y-%m-01T00:00:00Z}"

    def credits_of(key: str) -> Any:
        answer = client.get("/v1/key", headers={"Authorization": f"Bearer {key}"})
        return answer.get_json()["data"]["credits"]

    plan = {"cost": 1, "costs": {}, "monthly": 2, "renews_at": renews_at}
    assert (credits_of(key), credits_of(begun)) == ({"left": 2} | plan, {"left": 1} | plan)
    for one, count in ((key, 2), (begun, 1)):
        assert [outcome_of(client, one)[0] for _ in range(count)] == [200] * count
        error = client.get(WALLETS, headers={"Authorization": f"Bearer {one}"}).get_json()["error"]
        assert (error["reason"], error["renews_at"]) == ("insufficient_credits", renews_at)
    a_month_passes(connection)
    assert [credits_of(one)["left"] for one in (key, begun)] == [2, 2]
    without = document(run, "keys", "create", "once", "--credits", "0")["key"]
    error = client.get(WALLETS, headers={"Authorization": f"Bearer {without}"}).get_json()["error"]
    assert "renews_at" not in error


@pytest.mark.settings(key_cache_seconds=0)
def test_a_key_is_bound_to_chains_types_and_operations_and_unbound(run: Run, client: FlaskClient) -> None:
    binding = ("--chain", "bnb", "--chain", "solana", "--type", "kol", "--operation", "get_volume")
    key = document(run, "keys", "create", "one", *binding)["key"]
    [listed] = document(run, "keys", "list")
    bounds = [listed[name] for name in ("chains", "types", "operations")]
    assert bounds == [["solana", "bnb"], ["kol"], ["get_volume"]]
    assert "bound to solana, bnb; kol; get_volume" in run("keys", "list").stdout
    volume = "/v1/transactions/volume?type=kol&blockchain="
    assert outcome_of(client, key) == (403, "out_of_scope")
    assert [outcome_of(client, key, f"{volume}{chain}")[0] for chain in ("solana", "bnb", "eth")] == [
        *(200, 200, 403)
    ]
    said = run("keys", "set", "one", "--operation", "any", "--chain", "eth").stdout
    assert said.endswith("and does not expire; it is bound to eth; kol.\n")
    assert [outcome_of(client, key, f"{volume}{chain}")[0] for chain in ("solana", "eth")] == [403, 200]
    assert run("keys", "set", "one", "--type", "whale").exit_code == 1
    assert run("keys", "set", "one", "--type", "any", "--chain", "any").exit_code == 0
    assert outcome_of(client, key) == (200, None)


FILE_OF_KEYS = """\
name,credits,monthly,rate,expires,chain,type,operation
ann,,5000,60/minute,2999-12-31,solana bnb,kol,
ben,10,,,,,,get_volume get_key
cat,unlimited,none,default,never,any,any,any
ann,,,,,,,
dan,-1,,,,,,
eve,,,,,bitcoin,,
fay,,,,,,,get_wallets
"""


def test_many_keys_are_made_at_once_and_their_secrets_are_in_a_new_file(
    run: Run, client: FlaskClient, connection: Connection, tmp_path: Path
) -> None:
    file, secrets = tmp_path / "keys.csv", tmp_path / "keys.csv.secrets.ndjson"
    file.write_text(FILE_OF_KEYS)
    made = run("keys", "import", str(file), "--json")
    assert made.exit_code == 3, made.output
    rejects = f"{file}.rejects.ndjson"
    summary = {"created": 3, "rejected": 4, "secrets": str(secrets), "rejects": rejects}
    assert json.loads(made.stdout) == summary
    assert secrets.stat().st_mode & 0o777 == 0o600
    keys = {row["name"]: row["key"] for row in map(json.loads, secrets.read_text().splitlines())}
    assert list(keys) == ["ann", "ben", "cat"]
    assert not any(key in made.output for key in keys.values())
    reasons = [json.loads(line)["reason"] for line in Path(rejects).read_text().splitlines()]
    assert [reason.partition(";")[0] for reason in reasons[:-1]] == [
        "there is a key named 'ann' already",
        "credits: '-1' is neither a whole number nor unlimited",
        "'bitcoin' is none of the chains",
    ]
    assert reasons[-1].startswith("operation: 'get_wallets' is no operation; they are count_trades, ")
    listed = {key["name"]: key for key in document(run, "keys", "list")}
    ann = {"credits": 5000, "monthly": 5000, "rate": "60/minute", "expires_at": "2999-12-31T00:00:00Z"}
    assert listed["ann"].items() >= (ann | {"types": ["kol"]}).items()
    assert listed["ann"]["chains"] == ["solana", "bnb"]
    assert listed["ben"].items() >= {"credits": 10, "monthly": None, "chains": None}.items()
    assert listed["cat"].items() >= {"credits": None, "rate": None, "operations": None}.items()
    assert outcome_of(client, keys["cat"]) == (200, None)
    assert outcome_of(client, keys["ben"]) == (403, "out_of_scope")
    # A file that is there is never written to, and nothing is made.
    again = tmp_path / "more.ndjson"
    again.write_text('{"name": "gus", "credits": 5, "operation": ["get_volume"]}\n')
    refused = run("keys", "import", str(again), "--output", str(secrets))
    assert refused.exit_code == 1
    assert f"{secrets} exists: name another --output." in refused.stderr
    assert "gus" not in run("keys", "list").stdout
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert run("keys", "import", str(again), "--output", str(tmp_path / "link")).exit_code == 1
    assert not (tmp_path / "elsewhere").exists()
    assert run("keys", "import", str(again)).exit_code == 0
    assert "gus" in run("keys", "list").stdout


def test_a_file_of_no_good_key_leaves_no_file_of_secrets(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "keys.ndjson"
    file.write_text('{"name": "one", "credits": 1.5}\n{"name": "two", "type": 7}\n')
    made = run("keys", "import", str(file))
    assert (made.exit_code, made.stdout) == (3, "Created 0 keys; 2 rows rejected.\n")
    assert not (tmp_path / "keys.ndjson.secrets.ndjson").exists()


@pytest.mark.settings(key_cache_seconds=0)
def test_the_name_of_a_revoked_key_is_given_again(
    run: Run, client: FlaskClient, connection: Connection
) -> None:
    first = create_key(connection, "one", credits=1)
    assert run("keys", "revoke", "one").exit_code == 0
    connection.execute("UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00Z'")
    assert run("keys", "revoke", "one").stdout == "one was revoked at 2026-01-01T00:00:00Z.\n"
    second = document(run, "keys", "create", "one")["key"]
    assert "named 'one' already" in run("keys", "create", "one").stderr
    assert outcome_of(client, first) == (403, "revoked_api_key")
    assert outcome_of(client, second) == (200, None)
    assert [row["revoked_at"] is None for row in document(run, "keys", "list")] == [False, True]
    assert document(run, "keys", "show", "one")["credits"] is None
    assert run("keys", "revoke", "one").exit_code == 0
    assert outcome_of(client, second) == (403, "revoked_api_key")


def test_a_change_of_a_key_keeps_what_is_charged_meanwhile(
    settings: Settings, connection: Connection
) -> None:
    create_key(connection, "one", credits=100)
    with connect(str(settings.database_url)) as other, ThreadPoolExecutor(1) as executor:
        with connection.transaction():
            connection.execute("UPDATE api_keys SET credits = credits - 7")
            changing = executor.submit(set_key, other, "one", rate="5/minute")
            assert eventually(lambda: somebody_waits(connection))
        changed = changing.result(PATIENCE_SECONDS)
    assert (changed["credits"], changed["rate"]) == (93, "5/minute")


@pytest.mark.parametrize(
    ("options", "typed", "status"), [((), "n", 1), ((), "y", 0), (("--yes",), "", 0)], ids=str
)
def test_on_a_terminal_a_key_is_revoked_when_that_is_confirmed(
    settings: Settings, connection: Connection, options: tuple[str, ...], typed: str, status: int
) -> None:
    create_key(connection, "one")
    terminal, end = pty.openpty()
    os.write(terminal, f"{typed}\n".encode())
    with wallet_api("keys", "revoke", "one", *options, settings=settings, stdin=end) as revoking:
        output, _ = revoking.communicate()
    os.close(end)
    os.close(terminal)
    assert revoking.returncode == status
    assert ("Revoke one permanently? [y/N]" in output) == (not options)
    revoked = connection.fetch_value("SELECT revoked_at IS NOT NULL AS is_revoked FROM api_keys")
    assert revoked == (status == 0)


_NAME = "1 to 100 printable characters"


# Arguments of `keys`, and what is reported.
REFUSED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("create", "one"), "a key named 'one' already"),
    (("create", ""), _NAME),
    (("create", " two"), _NAME),
    (("create", "t\nwo"), _NAME),
    (("create", "x" * 101), _NAME),
    *(
        (("create", "two", "--rate", rate), "COUNT/second, /minute, /hour or /day, such as 300/minute")
        for rate in (
            *("300/week", "", "0/minute", "-1/minute", "1.5/minute", "300", "/minute", "300 per minute"),
            *("\u0663/minute", "1/minute\n", "1000000000000/day"),
        )
    ),
    (("create", "two", "--rate", "lots"), "'lots' is not a rate"),
    (("create", "two", "--credits", "-1"), "'-1' is neither a whole number nor unlimited"),
    (("create", "two", "--credits", "many"), "'many' is neither a whole number nor unlimited"),
    (("create", "two", "--expires", "2020-01-01"), "2020-01-01T00:00:00Z is in the past"),
    (("create", "two", "--monthly", "some"), "'some' is neither a whole number nor none"),
    (("create", "two", "--chain", "bitcoin"), "'bitcoin' is none of the chains; allowed: solana, bnb"),
    (("create", "two", "--chain", "any", "--chain", "bnb"), "'any' is none of the chains"),
    (("create", "two", "--chain", "eth", "--type", "whale"), "no wallets of eth are of type whale"),
    (("create", "two", "--operation", "wallets"), "'wallets' is no operation; they are count_trades, "),
    (("set", "one", "--type", "dolphin"), "'dolphin' is none of the types; allowed: kol, smart, whale"),
    (("create", "two", "--expires", "tomorrow"), "'tomorrow' is not a date; write 2030-12-31"),
    (("create", "two", "--expires", "1912121512345"), "'1912121512345' is not a date; write 2030-12-31"),
    (("revoke", "nobody"), "no key named 'nobody'"),
    (("top-up", "nobody", "1"), "no key named 'nobody'"),
    (("top-up", "gone", "1"), "the key 'gone' is revoked permanently; create another one"),
    (("top-up", "one", "0"), "whole number from 1"),
    (("top-up", "one", "1"), "has no limit of credits"),
    (("rotate", "nobody"), "no key named 'nobody'"),
    (("rotate", "gone"), "is revoked permanently"),
    (("rotate", "old"), "has expired; set another expiry first"),
    (("rotate", "one", "--overlap", "soon"), "'soon' is no such time as 24h"),
    (("set", "one"), "Give --rate, --expires, --credits or --monthly"),
    (("set", "one", "--credits", "-1"), "'-1' is neither a whole number nor unlimited"),
    (("set", "one", "--credits", "1" * 19), "is neither a whole number nor unlimited"),
    (("set", "one", "--credits", "9" * 18), "a whole number from 0 to"),
    (("set", "one", "--monthly", "unlimited"), "'unlimited' is neither a whole number nor none"),
    (("set", "one", "--credits", "unlimited", "--monthly", "5"), "has none for each month"),
    (("set", "gone", "--rate", "1/day"), "is revoked permanently"),
    (("set", "nobody", "--rate", "1/day"), "no key named 'nobody'"),
    (("set", "one", "--rate", "lots"), "'lots' is not a rate"),
    (("set", "one", "--expires", "2020-01-01"), "2020-01-01T00:00:00Z is in the past"),
    (("show", "nobody"), "no key named 'nobody'"),
)


def test_what_cannot_be_done_is_one_clear_line(run: Run, connection: Connection) -> None:
    for name in ("one", "old", "gone"):
        create_key(connection, name)
    connection.execute("UPDATE api_keys SET expires_at = now() WHERE name = 'old'")
    run("keys", "revoke", "gone")
    before = connection.execute("SELECT * FROM api_keys ORDER BY key_id").fetchall()
    for arguments, message in REFUSED:
        failed = run("keys", *arguments)
        assert failed.exit_code != 0, arguments
        assert failed.stdout == ""
        assert message in failed.stderr
        assert connection.execute("SELECT * FROM api_keys ORDER BY key_id").fetchall() == before
