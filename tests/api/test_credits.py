"""Credits through real workers: N give exactly N answers, however they are asked for and whoever dies."""

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
from flask import Flask, Response
from flask.testing import FlaskClient
from psycopg.sql import SQL, Identifier

from tests.callers import WALLETS, call_at_once
from tests.processes import Gunicorn, StartGunicorn
from tests.signals import workers
from tests.waiting import eventually
from wallet_api.access.credits import LEASED_CALLS
from wallet_api.access.gate import free_of_charge
from wallet_api.access.keys import create_key, top_up_key
from wallet_api.blueprints.envelope import answer
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

FAST = "1000000/second"


def _ask(client: FlaskClient, key: str, path: str = WALLETS) -> Any:
    return client.get(path, headers={"Authorization": f"Bearer {key}"})


def _credits(connection: Connection) -> tuple[int, int]:
    """The balance of the only key, and what leases hold of it."""
    row = connection.execute(
        "SELECT credits, (SELECT COALESCE(sum(amount - spent), 0)::bigint FROM credit_leases) AS leased"
        "  FROM api_keys"
    ).fetchone()
    assert row is not None
    return row["credits"], row["leased"]


def _wait_until_nothing_is_leased(connection: Connection) -> None:
    def settled() -> bool:
        return _credits(connection)[1] == 0

    assert eventually(settled), _credits(connection)


class _Killer:
    """Kills a service, as soon as it holds leased credits while it stands still."""

    def __init__(self, server: Gunicorn, connection: Connection) -> None:
        self.done = False
        self._server = server
        self._connection = connection
        self._trying = threading.Lock()

    def __call__(self, answer: int) -> None:
        if answer > 400 and answer % 20 == 0 and not self.done and self._trying.acquire(blocking=False):
            try:
                self._try()
            finally:
                self._trying.release()

    def _try(self) -> None:
        processes = [psutil.Process(self._server.process.pid), *workers(self._server)]
        for process in processes:
            process.suspend()
        # What it had sent to the database is still done there.
        assert eventually(self._database_is_idle)
        self.done = _credits(self._connection)[1] > 0
        for process in processes:
            if self.done:
                process.kill()
            else:
                process.resume()

    def _database_is_idle(self) -> bool:
        row = self._connection.execute(
            "SELECT count(*) AS active FROM pg_stat_activity"
            " WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()"
        ).fetchone()
        return row is not None and row["active"] == 0


def test_a_200_costs_one_credit_and_says_what_is_left(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", credits=3)
    left = [_ask(client, key).headers["X-Credits-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    assert _credits(connection) == (0, 0)


def test_without_credits_the_answer_is_403_and_stays_so(client: FlaskClient, connection: Connection) -> None:
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


def test_credits_added_work_with_the_next_call(client: FlaskClient, connection: Connection) -> None:
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
    assert _credits(connection) == (1, 0)


def test_what_is_wrong_with_a_call_is_told_before_missing_credits(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=0)
    assert _ask(client, key, "/v1/wallets").status_code == 400
    assert (
        _ask(client, key, "/v1/wallets/history?blockchain=eth&type=kol&address=0x" + "0" * 40).status_code
        == 404
    )
    assert _ask(client, key).status_code == 403


def test_a_key_without_a_limit_is_told_no_balance(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller")
    answer = _ask(client, key)
    assert answer.status_code == 200
    assert "X-Credits-Remaining" not in answer.headers


def test_a_view_can_give_its_answer_away(app: Flask, connection: Connection) -> None:
    @app.get("/v1/free")
    def free() -> Response:
        free_of_charge()
        return answer({})

    key = create_key(connection, "caller", credits=1)
    client = app.test_client()
    assert _ask(client, key, "/v1/free").headers["X-Credits-Remaining"] == "1"
    assert _ask(client, key).headers["X-Credits-Remaining"] == "0"


def test_a_call_can_cost_more_than_one(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, credit_cost=5)).test_client()
    key = create_key(connection, "caller", credits=12)
    assert [_ask(client, key).status_code for _ in range(3)] == [200, 200, 403]
    assert _credits(connection) == (2, 0)


def test_200_calls_at_once_on_100_credits_over_two_workers_give_exactly_100_answers(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=100, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, key, 200, callers=16) == {200: 100, 403: 100}
    assert _credits(connection) == (0, 0)


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


def test_credits_leased_by_busy_workers_are_sold_exactly_once_too(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=4000, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    leases_seen = []

    def look(answer: int) -> None:
        if answer % 100 == 0:
            leases_seen.append(_credits(connection)[1])

    assert call_at_once(server.url, key, 4400, callers=12, after=look) == {200: 4000, 403: 400}
    assert any(leases_seen), "nothing was leased, so this showed nothing"
    # Never much at once, so that little is in doubt when a machine crashes.
    assert max(leases_seen) <= 2 * (LEASED_CALLS + LEASED_CALLS // 2)
    assert _credits(connection) == (0, 0)


def test_leased_credits_come_back_when_the_calls_stop(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, key, 600, callers=8) == {200: 600}
    _wait_until_nothing_is_leased(connection)
    assert _credits(connection) == (1_000_000 - 600, 0)


def test_leased_credits_come_back_when_the_service_stops(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, key, 600, callers=8) == {200: 600}
    server.stop()
    assert _credits(connection) == (1_000_000 - 600, 0)


def test_no_credit_is_lost_or_sold_twice_when_a_worker_is_killed_under_load(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(workers=2, threads=4)
    callers = 12

    def kill(answer: int) -> None:
        if answer in (700, 1400, 2100):
            os.kill(workers(server)[0].pid, signal.SIGKILL)

    answers = call_at_once(server.url, key, 3000, callers=callers, after=kill)
    assert set(answers) == {200, None}
    _wait_until_nothing_is_leased(connection)
    charged = 1_000_000 - _credits(connection)[0]
    # What was under way in a killed worker may have been charged and not been answered.
    assert answers[200] <= charged <= answers[200] + answers[None]
    assert answers[None] <= 3 * callers


def test_what_a_killed_service_held_comes_back_with_its_next_start(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(workers=2, threads=4)

    kill = _Killer(server, connection)
    answers = call_at_once(server.url, key, 3000, callers=8, after=kill)
    assert kill.done, "nothing was leased, so this showed nothing"
    gunicorn(workers=1, threads=1)
    _wait_until_nothing_is_leased(connection)
    charged = 1_000_000 - _credits(connection)[0]
    assert answers[200] <= charged <= answers[200] + 8


def test_what_a_crashed_machine_may_have_spent_is_kept_and_told(
    gunicorn: StartGunicorn, connection: Connection, settings: Settings
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(workers=1, threads=4)
    kill = _Killer(server, connection)
    call_at_once(server.url, key, 3000, callers=8, after=kill)
    (path,) = Path(settings.wallet_api_home).glob("credits/*/*.journal")
    with path.open("r+b") as journal:
        # As if it had been written before the machine was started.
        journal.write(b"another boot".ljust(64, b"\0"))
    before = _credits(connection)
    assert before[1] > 0
    restarted = gunicorn(workers=1, threads=1)
    assert eventually(lambda: f"worker {path.stem}" in restarted.log)
    assert _credits(connection) == before
    assert call_at_once(restarted.url, key, 1, callers=1) == {200: 1}


def _lease_elsewhere(connection: Connection, amount: int, age_seconds: int = 0) -> None:
    connection.execute(
        "INSERT INTO credit_leases (lease_id, key_id, worker, amount, taken_at)"
        " SELECT gen_random_uuid(), key_id, gen_random_uuid(), %s, now() - make_interval(secs => %s)"
        "   FROM api_keys",
        [amount, age_seconds],
    )


def test_before_a_call_is_refused_a_lease_on_its_way_back_is_waited_for(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=0)
    _lease_elsewhere(connection, 1)

    def give_back() -> None:
        with connection.transaction():
            connection.execute("DELETE FROM credit_leases")
            connection.execute("UPDATE api_keys SET credits = 1")

    timer = threading.Timer(0.3, give_back)
    timer.start()
    assert _ask(client, key).status_code == 200
    timer.join()
    assert _ask(client, key).status_code == 403


def test_a_lease_that_nobody_will_return_holds_up_no_call(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=0)
    _lease_elsewhere(connection, 1, age_seconds=60)
    began = time.monotonic()
    refused = _ask(client, key)
    assert refused.status_code == 403
    assert refused.headers["X-Credits-Remaining"] == "0"
    assert time.monotonic() - began < 0.5


def test_an_outage_of_the_database_loses_nothing(
    app: Flask, servers: Settings, connection: Connection
) -> None:
    @app.get("/v1/plain")
    def plain() -> Response:
        return answer({})

    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    client = app.test_client()
    statuses = [_ask(client, key, "/v1/plain").status_code for _ in range(200)]
    with connect(str(servers.database_url)) as administrator:
        name = SQL("{}").format(Identifier(connection.info.dbname))
        administrator.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
            [connection.info.dbname, connection.info.backend_pid],
        )
        refused: list[Any] = []
        while not refused:
            response = _ask(client, key, "/v1/plain")
            statuses.append(response.status_code)
            if response.status_code != 200:
                refused.append(response)
        administrator.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
    assert refused[0].status_code == 503
    assert refused[0].json["error"]["code"] == "service_unavailable"
    assert int(refused[0].headers["Retry-After"]) >= 1

    def works() -> bool:
        statuses.append(_ask(client, key, "/v1/plain").status_code)
        return bool(statuses[-1] == 200)

    assert eventually(works)
    _wait_until_nothing_is_leased(connection)
    assert _credits(connection) == (1_000_000 - statuses.count(200), 0)


def test_a_service_that_can_write_no_journal_charges_all_the_same(
    settings: Settings, gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", credits=1_000_000, rate=FAST)
    server = gunicorn(replace(settings, wallet_api_home="/dev/null"), workers=1, threads=4)
    assert call_at_once(server.url, key, 300, callers=4) == {200: 300}
    assert _credits(connection) == (1_000_000 - 300, 0)
