"""Credits with real workers: N credits give exactly N responses, also when something fails."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask

from tests.api.conftest import NewCaller
from tests.ledger.caller import LIST
from tests.ledger.in_process import Importer
from tests.lib.callers import WALLETS, Met, call_at_once, callers, get
from tests.lib.folders import server_folder
from tests.lib.outages import Outages, is_our_refusal, no_connections, service_with_own_servers
from tests.lib.processes import StartGunicorn, reload, workers
from tests.lib.waiting import PATIENCE_SECONDS, calm_seconds, eventually
from wallet_api.api.keys import create_key, top_up_key
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

FAST = "1000000/second"
FEED = "/transactions/latest?blockchain=solana&type=kol"
MANY = 1_000_000
# What a worker may have charged and not settled when it is killed: 50 ms, and the time of a settlement.
UNSETTLED_SECONDS = 0.15
FORGIVEN = re.compile(r"Credits forgiven: (\d+) of 'poor': spent elsewhere")


def _credits(connection: Connection, name: str = "caller") -> int:
    row = connection.execute("SELECT credits FROM api_keys WHERE name = %s", [name]).fetchone()
    assert row is not None
    return int(row["credits"])


def _charged_eventually(connection: Connection, charged: int, name: str = "caller") -> bool:
    return eventually(lambda: _credits(connection, name) == MANY - charged)


class _Times:
    """The times of responses by the clock of `calm_seconds`, for `after` of call_at_once."""

    def __init__(self, actions: dict[int, Callable[[], object]]) -> None:
        self._actions = actions
        self._times: list[float] = []
        self.acted: list[float] = []

    def __call__(self, answer: int) -> None:
        self._times.append(calm_seconds())
        if answer in self._actions:
            self._actions[answer]()
            self.acted.append(calm_seconds())

    def within(self, seconds: float) -> int:
        """How many came in the last seconds before each action."""
        return sum(any(0 <= acted - moment <= seconds for acted in self.acted) for moment in self._times)


def test_only_a_200_costs_credits_and_each_response_has_what_is_left(
    new_caller: NewCaller, connection: Connection
) -> None:
    caller = new_caller(credits=3)
    unknown = "/wallets/history?blockchain=eth&type=kol&address=0x" + "0" * 40
    answers = [caller.send(path) for path in ("/wallets", f"{LIST}&limit=0", unknown)]
    answers += [caller.send(method="HEAD"), *(caller.send() for _ in range(4)), caller.send(method="HEAD")]
    assert [(answer.status_code, answer.headers["X-Credits-Remaining"]) for answer in answers] == [
        *((400, "3"), (400, "3"), (404, "3")),
        # A HEAD costs what the GET does, whose rows its `Link` leads to.
        *((200, "2"), (200, "1"), (200, "0"), (403, "0"), (403, "0"), (403, "0")),
    ]
    error = answers[-2].json["error"]
    assert (error["code"], error["reason"]) == ("forbidden", "insufficient_credits")
    assert "data" not in answers[-2].json
    assert "X-RateLimit-Remaining" in answers[-2].headers
    assert _credits(connection) == 0
    top_up_key(connection, "caller", 1)
    assert caller.statuses(2) == [200, 403]
    connection.execute("UPDATE api_keys SET credits = NULL")
    for unlimited in (caller, new_caller("unlimited")):
        answer = unlimited.send()
        assert (answer.status_code, answer.headers.get("X-Credits-Remaining")) == (200, None)


def test_a_key_without_credits_gets_its_state_and_nothing_else(
    new_caller: NewCaller, importer: Importer
) -> None:
    rich, spent = new_caller("rich"), new_caller(credits=0, rate="8/day")
    followed = {"path": f"{FEED}&after=now"}
    cursor = rich.send(**followed).json["data"]["pagination"]["next_cursor"]
    same = {"If-None-Match": rich.send().headers["ETag"]}
    requests: list[dict[str, Any]] = [
        *({}, {"method": "HEAD"}, {"headers": same}, {"headers": {"If-None-Match": "*"}}),
        *(followed, {"path": f"{FEED}&after={cursor}"}, {"path": "/wallets"}, {"path": f"{LIST}&limit=0"}),
        # Over the limit of the key.
        *({}, {"headers": same}),
    ]
    answers = [spent.send(**request) for request in requests]
    assert [answer.status_code for answer in answers] == [403] * len(requests)
    for answer, request in zip(answers, requests, strict=True):
        if "method" not in request:
            assert answer.json["error"]["reason"] == "insufficient_credits"
        assert not {"ETag", "Link"} & set(answer.headers.keys())
    fresh = new_caller("fresh", credits=0)
    state = fresh.send("/key")
    assert (state.status_code, state.json["data"]["credits"]["left"]) == (200, 0)
    assert fresh.send("/key", method="HEAD").status_code == 200


def test_what_is_free_leads_to_no_row(new_caller: NewCaller, importer: Importer) -> None:
    caller = new_caller(credits=100, rate="99/day")
    for path in (f"{LIST}&limit=1", f"{LIST}&limit=1&format=csv", f"{FEED}&limit=5000&format=csv"):
        paid = caller.send(path)
        left = int(paid.headers["X-Credits-Remaining"])
        unchanged = caller.send(path, {"If-None-Match": f'"other", {paid.headers["ETag"]}'})
        assert (unchanged.status_code, unchanged.headers["X-Credits-Remaining"]) == (304, str(left))
        # It is a request like any other.
        counted = [int(answer.headers["X-RateLimit-Remaining"]) for answer in (paid, unchanged)]
        assert counted[0] - counted[1] == 1
        assert (unchanged.data, "Content-Type" in unchanged.headers) == (b"", False)
        for name in ("ETag", "Vary", "Cache-Control"):
            assert unchanged.headers.get(name) == paid.headers.get(name), name
        assert {"Link", "X-Warnings"} & set(paid.headers.keys())
        assert not {"Link", "X-Next-Cursor", "X-Warnings"} & set(unchanged.headers.keys())
        # `*` is no ETag of data that a caller has.
        any_tag = caller.send(path, {"If-None-Match": "*"})
        assert (any_tag.status_code, any_tag.headers["X-Credits-Remaining"]) == (200, str(left - 1))
        assert any_tag.data
        head = caller.send(path, method="HEAD")
        assert (head.status_code, head.headers["X-Credits-Remaining"]) == (200, str(left - 2))
        assert head.headers.get("Link") == paid.headers.get("Link")


def test_reloads_and_a_stop_settle_everything(gunicorn: StartGunicorn, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    with callers(get(server.url + WALLETS, headers={"Authorization": f"Bearer {key}"})) as met:
        for _ in range(2):
            assert eventually(lambda before=met.statuses[200]: met.statuses[200] > before + 100)
            reload(server)
    assert (met.failures, set(met.statuses)) == ([], {200})
    assert _charged_eventually(connection, met.statuses[200])
    # In the midst of requests.
    answers = call_at_once(server.url, key, 1_000, callers=8, after=_Times({150: server.process.terminate}))
    server.stop()
    assert 150 <= answers[200] < 1_000
    assert _credits(connection) == MANY - met.statuses[200] - answers[200]


def test_a_request_that_ends_after_the_last_settlement_is_charged_directly(
    app: Flask, new_caller: NewCaller, connection: Connection
) -> None:
    caller = new_caller(credits=MANY)
    assert caller.statuses(3) == [200] * 3
    app.extensions["wallet_api"].gate.close()
    assert _credits(connection) == MANY - 3
    assert caller.statuses(1) == [200]
    assert _credits(connection) == MANY - 4


@pytest.mark.settings(leaderboard_ttl_seconds=60.0, key_cache_seconds=60.0)
def test_what_a_stop_without_the_database_cannot_charge_is_forgiven(
    app: Flask,
    new_caller: NewCaller,
    connection: Connection,
    servers: Settings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # So few requests cannot have spent a balance of this size since it was read.
    caller, poor = new_caller(credits=MANY, rate="100/hour"), new_caller("poor", credits=9)
    assert [each.send().status_code for each in (caller, poor)] == [200, 200]
    # A balance that was read long ago.
    time.sleep(0.6)
    with no_connections(servers, connection):
        assert caller.statuses(3) == [200] * 3
        # A key with little left has to be looked at, also for what would be free.
        unpaid = poor.send("/wallets")
        assert (unpaid.status_code, unpaid.headers.get("X-Credits-Remaining")) == (503, None)
        assert int(unpaid.headers["Retry-After"]) > 0
        app.extensions["wallet_api"].gate.close()
    assert "Credits forgiven: 3: closed" in caplog.text
    # Of both keys: each request, and each credit.
    assert "The use of keys lacks 11 requests and credits" in caplog.text


def test_without_a_shared_store_of_limits_an_old_balance_is_not_trusted(
    caller_of: NewCaller, connection: Connection
) -> None:
    connection.execute("UPDATE api_keys SET credits = %s, rate = '5/day'", [MANY])
    caller = caller_of(valkey_url=None)
    assert caller.statuses(1) == [200]
    time.sleep(0.7)
    connection.execute("UPDATE api_keys SET credits = 0")
    assert caller.statuses(1) == [403]


def test_a_killed_worker_forgives_its_last_charges_and_takes_nothing(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    kill = lambda: os.kill(workers(server)[0].pid, signal.SIGKILL)  # noqa: E731
    times = _Times(dict.fromkeys((300, 600, 900), kill))
    answers = call_at_once(server.url, key, 1_300, callers=12, after=times)
    assert set(answers) == {200, None}
    server.stop()
    charged = MANY - _credits(connection)
    assert len(times.acted) == 3
    # What was under way in a killed worker may have been charged, and its answer lost.
    assert charged <= answers[200] + answers[None]
    assert answers[200] - charged <= times.within(UNSETTLED_SECONDS)


@pytest.mark.settings(key_cache_seconds=0.5)
def test_credits_of_four_workers_are_exact_while_keys_are_topped_up_and_revoked_and_none_waits_for_another(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    poor = create_key(connection, "poor", credits=600, rate=FAST)
    rich = create_key(connection, "rich", credits=MANY, rate=FAST)
    server = gunicorn(workers=4, threads=4)
    add = lambda: top_up_key(connection, "poor", 200)  # noqa: E731
    times = _Times({100: add, 500: add})
    assert call_at_once(server.url, poor, 1_100, callers=12, after=times) == {200: 1_000, 403: 100}
    assert _credits(connection, "poor") == 0
    revoke = "UPDATE api_keys SET revoked_at = now() WHERE name = 'rich'"
    times = _Times({100: lambda: connection.execute(revoke)})
    answers = call_at_once(server.url, rich, 1_500, callers=12, after=times)
    assert set(answers) == {200, 403}
    assert _charged_eventually(connection, answers[200], "rich")
    # Many keys, which the workers settle at the same time.
    names = [f"caller {number}" for number in range(40)]
    keys = cycle([create_key(connection, name, credits=MANY, rate=FAST) for name in names])

    def call(session: requests.Session) -> requests.Response:
        return session.get(server.url + WALLETS, headers={"Authorization": f"Bearer {next(keys)}"})

    with callers(call, threads=12) as met:
        assert eventually(lambda: met.statuses[200] >= 1_000)
    assert set(met.statuses) == {200}
    assert eventually(lambda: sum(MANY - _credits(connection, name) for name in names) == met.statuses[200])
    assert "failing" not in server.log
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert connection.fetch_value(deadlocks) == 0


def test_what_a_settlement_cannot_charge_is_forgiven_and_counted(
    url: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    keys = {name: create_key(connection, name, credits=MANY, rate=FAST) for name in ("poor", "gone", "rich")}
    for name, key in keys.items():
        call_at_once(url, key, 10, callers=1)
        assert _charged_eventually(connection, 10, name)
    with connection.transaction():
        # No settlement gets past this, so that all keys are in the next one.
        connection.execute("UPDATE api_keys SET credits = 3 WHERE name = 'poor'")
        connection.execute("DELETE FROM api_keys WHERE name = 'gone'")
        for key in keys.values():
            assert call_at_once(url, key, 20, callers=1) == {200: 20}
    assert _charged_eventually(connection, 30, "rich")
    # A balance never falls below 0.
    assert eventually(lambda: _credits(connection, "poor") == 0)
    # In one settlement or in several, as the lock came between them.
    assert eventually(lambda: sum(map(int, FORGIVEN.findall(caplog.text))) == 17)
    assert eventually(lambda: "of 'gone': key deleted" in caplog.text)
    metrics = requests.get(f"{url}/metrics", timeout=60).text
    assert 'wallet_api_credits_forgiven_total{reason="spent elsewhere"} 17.0' in metrics


def test_a_key_whose_row_is_locked_for_long_is_refused_and_no_other(url: str, connection: Connection) -> None:
    locked, other = (create_key(connection, name, credits=MANY, rate=FAST) for name in ("locked", "other"))
    for key in (locked, other):
        call_at_once(url, key, 10, callers=1)
    with connection.transaction():
        connection.execute("SELECT FROM api_keys WHERE name = 'locked' FOR UPDATE")
        refused = call_at_once(url, locked, 10, callers=1)
        deadline = calm_seconds() + PATIENCE_SECONDS
        while refused[503] < 2 and calm_seconds() < deadline:
            refused += call_at_once(url, locked, 1, callers=1)
            assert call_at_once(url, other, 5, callers=1) == {200: 5}
        refusal = requests.get(f"{url}{WALLETS}", headers={"Authorization": f"Bearer {locked}"}, timeout=60)
    assert set(refused) == {200, 503}
    assert refusal.json()["error"]["message"] == "The query took too long. Try again shortly."
    assert _charged_eventually(connection, 10 + refused[200], "locked")


@pytest.fixture(scope="module")
def outages() -> Iterator[Outages]:
    # What is answered, and who may call, stays in memory, so that credits alone need the database.
    kept = {"answer_ttl_seconds": 600.0, "leaderboard_ttl_seconds": 600.0, "key_cache_seconds": 600.0}
    with (
        server_folder() as home,
        service_with_own_servers(Path(home), **kept) as outages,
    ):
        yield outages


def _charged(outages: Outages) -> int:
    with connect(str(outages.settings.database_url)) as connection:
        return MANY - _credits(connection, "limited")


@contextmanager
def _paying(outages: Outages) -> Iterator[Met]:
    """Callers that have been charged for some responses."""
    headers = {"Authorization": f"Bearer {outages.limited_key}"}
    with callers(get(outages.gunicorn.url + WALLETS, headers=headers), pause_seconds=0.01) as met:
        assert eventually(lambda: met.statuses[200] > 100)
        yield met


def _responds_again(met: Met) -> bool:
    paid = met.statuses[200]
    return eventually(lambda: met.statuses[200] > paid + 50)


def test_while_the_database_hangs_a_key_with_credits_is_refused_and_no_credit_is_lost(
    outages: Outages,
) -> None:
    before = _charged(outages)
    free = get(outages.gunicorn.url + WALLETS, headers=outages.headers)
    with _paying(outages) as paying, callers(free, pause_seconds=0.01) as others:
        # By then each worker has read the key.
        assert eventually(lambda: others.statuses[200] > 100)
        with outages.hanging("postgres"):
            assert eventually(lambda: paying.statuses[503] > 20)
            answered = others.statuses[200]
            assert eventually(lambda: others.statuses[200] > answered + 50)
        resumed = calm_seconds()
        assert _responds_again(paying)
        assert paying.recovered_seconds(resumed) < 2
    assert paying.failures + others.failures == []
    assert set(others.statuses) == {200}
    assert all(is_our_refusal(response) for response in paying.refusals)
    assert eventually(lambda: _charged(outages) - before == paying.statuses[200])


def test_when_the_database_is_killed_what_it_may_not_have_charged_is_forgiven(outages: Outages) -> None:
    before = _charged(outages)
    with _paying(outages) as met:
        killed = calm_seconds()
        outages.kill("postgres")
        assert eventually(lambda: met.statuses[503] > 20)
        back = outages.bring_back()
        assert _responds_again(met)
        assert met.recovered_seconds(back) < 2
    assert met.failures == []
    last = sum(killed - 0.2 < ended < killed + 0.2 for ended, status, _ in met.answers if status == 200)
    assert eventually(lambda: 0 <= met.statuses[200] - (_charged(outages) - before) <= last)


def test_a_worker_killed_while_the_database_hangs_forgives_at_most_its_last_second(outages: Outages) -> None:
    before = _charged(outages)
    with _paying(outages) as met:
        suspended = calm_seconds()
        with outages.hanging("postgres"):
            time.sleep(0.6)
            for worker in workers(outages.gunicorn):
                worker.kill()
            killed = calm_seconds()
        assert _responds_again(met)
    time.sleep(0.5)
    forgiven = met.statuses[200] - (_charged(outages) - before)
    ended = [ended for ended, status, _ in met.answers if status == 200]
    unsettled = sum(suspended - UNSETTLED_SECONDS < at < killed + 0.1 for at in ended)
    # A charge may have been settled whose response was lost with the worker.
    assert -len(met.failures) <= forgiven <= unsettled
    assert killed - suspended < 1
