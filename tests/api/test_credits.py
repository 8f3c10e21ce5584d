"""Credits with real workers: N credits give exactly N responses, also when something fails."""

import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any, LiteralString

import pytest
import requests
from flask import Flask, Response
from flask.testing import FlaskClient

from tests.callers import WALLETS, Answers, call_at_once, callers, get
from tests.outages import Outages, is_our_refusal, service_with_own_servers
from tests.processes import StartGunicorn, processes_of, reload, workers
from tests.waiting import eventually
from wallet_api.access.gate import free_of_charge
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key, top_up_key
from wallet_api.responses.envelope import respond
from wallet_api.settings import Settings

FAST = "1000000/second"
MANY = 1_000_000
# What a worker may have charged and not settled when it is killed: 50 ms, and the time of a settlement.
UNSETTLED_SECONDS = 0.15
_FORGIVEN = re.compile(r"Credits forgiven: (\d+) of 'poor': spent elsewhere")


def _ask(client: FlaskClient, key: str, path: str = WALLETS) -> Any:
    return client.get(path, headers={"Authorization": f"Bearer {key}"})


def _credits(connection: Connection, name: str = "caller") -> int:
    row = connection.execute("SELECT credits FROM api_keys WHERE name = %s", [name]).fetchone()
    assert row is not None
    return int(row["credits"])


def _charged_eventually(connection: Connection, charged: int, of: int = MANY, name: str = "caller") -> bool:
    return eventually(lambda: _credits(connection, name) == of - charged, 3)


class _Times:
    """The times of responses by the monotonic clock, for `after` of call_at_once."""

    def __init__(self, actions: dict[int, Callable[[], None]]) -> None:
        self._actions = actions
        self._times: list[float] = []
        self.acted: list[float] = []

    def __call__(self, answer: int) -> None:
        self._times.append(time.monotonic())
        if answer in self._actions:
            self._actions[answer]()
            self.acted.append(time.monotonic())

    def within(self, seconds: float) -> int:
        """How many came in the last seconds before each action."""
        return sum(any(0 <= acted - moment <= seconds for acted in self.acted) for moment in self._times)


def test_a_200_costs_one_credit_and_reports_what_is_left(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=3)
    left = [_ask(client, key).headers["X-Credits-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    assert _credits(connection) == 0


def test_a_head_request_is_free_for_a_key_that_has_credits(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1)
    headers = {"Authorization": f"Bearer {key}"}
    for _ in range(2):
        assert client.head(WALLETS, headers=headers).status_code == 200
    assert _ask(client, key).status_code == 200
    assert client.head(WALLETS, headers=headers).status_code == 403


def test_without_credits_every_response_is_403(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=1)
    _ask(client, key)
    for _ in range(2):
        refused = _ask(client, key)
        assert refused.status_code == 403
        assert refused.json["error"]["code"] == "forbidden"
        assert refused.json["error"]["reason"] == "insufficient_credits"
        assert "data" not in refused.json
        assert refused.headers["X-Credits-Remaining"] == "0"
        assert "X-RateLimit-Remaining" in refused.headers


def test_added_credits_work_with_the_next_request(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=0)
    assert _ask(client, key).status_code == 403
    top_up_key(connection, "caller", 1)
    assert _ask(client, key).status_code == 200
    assert _ask(client, key).status_code == 403


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/wallets", 400),
        ("/v1/wallets?blockchain=solana&type=kol&limit=0", 400),
        ("/v1/wallets/history?blockchain=eth&type=kol&address=0x" + "0" * 40, 404),
    ],
)
def test_only_a_200_is_charged(client: FlaskClient, connection: Connection, path: str, status: int) -> None:
    key = create_key(connection, "caller", credits=1)
    answer = _ask(client, key, path)
    assert answer.status_code == status
    assert answer.headers["X-Credits-Remaining"] == "1"
    assert _credits(connection) == 1


def test_a_key_without_a_credit_limit_gets_no_balance(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller")
    answer = _ask(client, key)
    assert answer.status_code == 200
    assert "X-Credits-Remaining" not in answer.headers


def test_a_view_can_respond_free_of_charge(app: Flask, connection: Connection) -> None:
    @app.get("/v1/free")
    def free() -> Response:
        free_of_charge()
        return respond({})

    key = create_key(connection, "caller", credits=1)
    client = app.test_client()
    assert _ask(client, key, "/v1/free").headers["X-Credits-Remaining"] == "1"
    assert _ask(client, key).headers["X-Credits-Remaining"] == "0"


def test_a_request_can_cost_more_than_one_credit(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, credit_cost=5)).test_client()
    key = create_key(connection, "caller", credits=12)
    assert [_ask(client, key).status_code for _ in range(3)] == [200, 200, 403]
    assert _credits(connection) == 2


def test_200_concurrent_requests_with_100_credits_get_exactly_100_responses_of_two_workers(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=100, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, key, 200, callers=16) == {200: 100, 403: 100}
    assert _credits(connection) == 0


def test_one_caller_over_two_workers_gets_exactly_the_first_100(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=100, rate=FAST)
    server = gunicorn(workers=2, threads=1)
    answers = [
        # A connection each, so that the workers take turns.
        requests.get(server.url + WALLETS, headers={"Authorization": f"Bearer {key}"}, timeout=20)
        for _ in range(104)
    ]
    assert [answer.status_code for answer in answers] == [200] * 100 + [403] * 4
    left = [int(answer.headers["X-Credits-Remaining"]) for answer in answers]
    assert left == [*range(99, -1, -1), 0, 0, 0, 0]


def test_many_callers_of_eight_workers_get_exactly_as_many_responses_as_credits(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=3_000, rate=FAST)
    server = gunicorn(workers=8, threads=2)
    assert call_at_once(server.url, key, 3_100, callers=32) == {200: 3_000, 403: 100}
    assert _credits(connection) == 0
    assert "forgiven" not in server.log


def test_a_stop_settles_everything(gunicorn: StartGunicorn, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    stopping = threading.Timer(0.5, server.process.terminate)
    stopping.start()
    answers = call_at_once(server.url, key, 2_000, callers=8)
    stopping.join()
    server.stop()
    assert 0 < answers[200] < 2_000
    assert _credits(connection) == MANY - answers[200]


def test_a_request_that_ends_after_the_last_settlement_is_charged_directly(
    app: Flask, client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=MANY)
    for _ in range(3):
        assert _ask(client, key).status_code == 200
    app.extensions["wallet_api"].gate.close()
    assert _credits(connection) == MANY - 3
    assert _ask(client, key).status_code == 200
    assert _credits(connection) == MANY - 4


def test_without_a_shared_store_of_limits_an_old_balance_is_not_trusted(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, valkey_url=None)).test_client()
    key = create_key(connection, "caller", credits=MANY, rate="5/day")
    assert _ask(client, key).status_code == 200
    time.sleep(0.7)
    connection.execute("UPDATE api_keys SET credits = 0")
    assert _ask(client, key).status_code == 403


def test_a_reload_settles_everything(gunicorn: StartGunicorn, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    with callers(get(server.url + WALLETS, headers={"Authorization": f"Bearer {key}"})) as met:
        for _ in range(2):
            assert eventually(lambda before=met.statuses[200]: met.statuses[200] > before + 100)
            reload(server)
    assert met.failures == []
    assert set(met.statuses) == {200}
    assert _charged_eventually(connection, met.statuses[200])


def test_a_killed_worker_forgives_its_last_charges_and_takes_nothing(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    kill = lambda: os.kill(workers(server)[0].pid, signal.SIGKILL)  # noqa: E731
    times = _Times(dict.fromkeys((700, 1_400, 2_100), kill))
    answers = call_at_once(server.url, key, 3_000, callers=12, after=times)
    assert set(answers) == {200, None}
    server.stop()
    charged = MANY - _credits(connection)
    assert len(times.acted) == 3
    # What was under way in a killed worker may have been charged, and its answer lost.
    assert charged <= answers[200] + answers[None]
    assert answers[200] - charged <= times.within(UNSETTLED_SECONDS)


def _call_until_refused(
    server_url: str, key: str, calls: int, actions: dict[int, Callable[[], None]]
) -> Answers:
    return call_at_once(server_url, key, calls, callers=12, after=_Times(actions))


def test_credits_added_while_charges_are_pending_are_sold_exactly_once(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_500, rate=FAST)
    server = gunicorn(workers=4, threads=4)
    add = lambda: top_up_key(connection, "caller", 500)  # noqa: E731
    answers = _call_until_refused(server.url, key, 3_000, {100: add, 1_200: add})
    assert answers == {200: 2_500, 403: 500}
    assert _credits(connection) == 0


@pytest.mark.settings(key_cache_seconds=0.5)
@pytest.mark.parametrize(
    ("change", "status"),
    [("UPDATE api_keys SET revoked_at = now()", 403), ("UPDATE api_keys SET rate = '10/day'", 429)],
    ids=["revoked", "another rate"],
)
def test_a_key_changed_while_charges_are_pending_is_charged_for_its_responses(
    gunicorn: StartGunicorn, connection: Connection, change: LiteralString, status: int
) -> None:
    key = create_key(connection, "caller", credits=MANY, rate=FAST)
    server = gunicorn(workers=4, threads=4)
    apply = lambda: connection.execute(change)  # noqa: E731
    answers = _call_until_refused(server.url, key, 3_000, {300: apply})
    assert set(answers) == {200, status}
    assert _charged_eventually(connection, answers[200])


def test_four_workers_charge_the_same_keys_without_a_deadlock(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    names = [f"caller {number}" for number in range(40)]
    keys = cycle([create_key(connection, name, credits=MANY, rate=FAST) for name in names])
    server = gunicorn(workers=4, threads=4)

    def call(session: requests.Session) -> requests.Response:
        return session.get(server.url + WALLETS, headers={"Authorization": f"Bearer {next(keys)}"})

    with callers(call, threads=12) as met:
        assert eventually(lambda: met.statuses[200] >= 3_000, 60)
    time.sleep(0.5)
    assert set(met.statuses) == {200}
    assert sum(MANY - _credits(connection, name) for name in names) == met.statuses[200]
    assert "failing" not in server.log
    row = connection.execute(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    ).fetchone()
    assert row == {"deadlocks": 0}


def test_a_balance_never_falls_below_0_and_what_that_forgives_is_counted(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    poor, rich = (create_key(connection, name, credits=MANY, rate=FAST) for name in ("poor", "rich"))
    server = gunicorn(workers=1, threads=4)
    for name, key in (("poor", poor), ("rich", rich)):
        call_at_once(server.url, key, 10, callers=1)
        assert _charged_eventually(connection, 10, name=name)
    with connection.transaction():
        # No settlement gets past this, so that both keys are in the next one.
        connection.execute("UPDATE api_keys SET credits = 3 WHERE name = 'poor'")
        for key in (poor, rich):
            assert call_at_once(server.url, key, 20, callers=1) == {200: 20}
    assert _charged_eventually(connection, 30, name="rich")
    assert _credits(connection, "poor") == 0
    metrics = requests.get(f"{server.url}/metrics", timeout=20).text
    assert 'wallet_api_credits_forgiven_total{reason="spent elsewhere"} 17.0' in metrics
    # In one settlement or in several, as the lock came between them.
    assert eventually(lambda: sum(map(int, _FORGIVEN.findall(server.log))) == 17)


def test_charges_of_a_key_that_was_deleted_are_dropped_and_fail_no_other(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    gone, rich = (create_key(connection, name, credits=MANY, rate=FAST) for name in ("gone", "rich"))
    server = gunicorn(workers=1, threads=4)
    for name, key in (("gone", gone), ("rich", rich)):
        call_at_once(server.url, key, 10, callers=1)
        assert _charged_eventually(connection, 10, name=name)
    with connection.transaction():
        connection.execute("DELETE FROM api_keys WHERE name = 'gone'")
        for key in (gone, rich):
            assert call_at_once(server.url, key, 20, callers=1) == {200: 20}
    assert _charged_eventually(connection, 30, name="rich")
    assert eventually(lambda: "of 'gone': key deleted" in server.log)


def test_a_row_that_another_session_locks_delays_its_key_and_no_other(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    locked, other = (create_key(connection, name, credits=MANY, rate=FAST) for name in ("locked", "other"))
    server = gunicorn(workers=1, threads=4)
    for key in (locked, other):
        call_at_once(server.url, key, 10, callers=1)
    with connection.transaction():
        connection.execute("SELECT FROM api_keys WHERE name = 'locked' FOR UPDATE")
        refused = call_at_once(server.url, locked, 10, callers=1)
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            refused += call_at_once(server.url, locked, 1, callers=1)
            assert call_at_once(server.url, other, 5, callers=1) == {200: 5}
    assert set(refused) == {200, 503}
    assert _charged_eventually(connection, 10 + refused[200], name="locked")


@pytest.fixture(scope="module")
def outages() -> Iterator[Outages]:
    # What is answered, and who may call, stays in memory, so that credits alone need the database.
    kept = {"answer_ttl_seconds": 600.0, "leaderboard_ttl_seconds": 600.0, "key_cache_seconds": 600.0}
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-credits-") as home,
        service_with_own_servers(Path(home), **kept) as outages,
    ):
        yield outages


def _paying(outages: Outages) -> Callable[[requests.Session], requests.Response]:
    headers = {"Authorization": f"Bearer {outages.limited_key}"}
    return get(outages.gunicorn.url + WALLETS, headers=headers)


def _charged(outages: Outages) -> int:
    with connect(str(outages.settings.database_url)) as connection:
        return MANY - _credits(connection, "limited")


def test_while_the_database_hangs_a_key_with_credits_is_refused_after_a_second_and_no_credit_is_lost(
    outages: Outages,
) -> None:
    before = _charged(outages)
    free = get(outages.gunicorn.url + WALLETS, headers=outages.headers)
    with callers(_paying(outages), pause_seconds=0.01) as paying, callers(free, pause_seconds=0.01) as others:
        assert eventually(lambda: paying.statuses[200] > 100)
        processes = processes_of(outages.home / "postgres")
        for process in processes:
            process.suspend()
        try:
            assert eventually(lambda: paying.statuses[503] > 20, 10)
            answered = others.statuses[200]
            assert eventually(lambda: others.statuses[200] > answered + 50, 5)
        finally:
            for process in processes:
                process.resume()
        resumed = time.monotonic()
        paid = paying.statuses[200]
        assert eventually(lambda: paying.statuses[200] > paid + 50, 5)
        assert paying.recovered_seconds(resumed) < 2
    assert paying.failures + others.failures == []
    assert set(others.statuses) == {200}
    assert all(is_our_refusal(response) for response in paying.refusals)
    assert eventually(lambda: _charged(outages) - before == paying.statuses[200], 3)


def test_when_the_database_is_killed_what_it_may_not_have_charged_is_forgiven(outages: Outages) -> None:
    before = _charged(outages)
    with callers(_paying(outages), pause_seconds=0.01) as met:
        assert eventually(lambda: met.statuses[200] > 100)
        killed = time.monotonic()
        outages.kill("postgres")
        assert eventually(lambda: met.statuses[503] > 20, 10)
        back = outages.bring_back()
        paid = met.statuses[200]
        assert eventually(lambda: met.statuses[200] > paid + 50, 5)
        assert met.recovered_seconds(back) < 2
    assert met.failures == []
    time.sleep(0.5)
    forgiven = met.statuses[200] - (_charged(outages) - before)
    last = sum(killed - 0.2 < ended < killed + 0.2 for ended, status, _ in met.answers if status == 200)
    assert 0 <= forgiven <= last


def test_a_worker_killed_while_the_database_hangs_forgives_at_most_its_last_second(outages: Outages) -> None:
    before = _charged(outages)
    with callers(_paying(outages), pause_seconds=0.01) as met:
        assert eventually(lambda: met.statuses[200] > 100)
        processes = processes_of(outages.home / "postgres")
        for process in processes:
            process.suspend()
        suspended = time.monotonic()
        try:
            time.sleep(0.6)
            for worker in workers(outages.gunicorn):
                worker.kill()
            killed = time.monotonic()
        finally:
            for process in processes:
                process.resume()
        paid = met.statuses[200]
        assert eventually(lambda: met.statuses[200] > paid + 50, 20)
    time.sleep(0.5)
    forgiven = met.statuses[200] - (_charged(outages) - before)
    ended = [ended for ended, status, _ in met.answers if status == 200]
    unsettled = sum(suspended - UNSETTLED_SECONDS < at < killed + 0.1 for at in ended)
    # A charge may have been settled whose response was lost with the worker.
    assert -len(met.failures) <= forgiven <= unsettled
    assert killed - suspended < 1
