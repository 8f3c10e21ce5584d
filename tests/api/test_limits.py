"""The rate limit: N requests pass, and the headers report the state, of any number of workers."""

import math
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import requests
import valkey
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.api.conftest import NewCaller
from tests.ledger.caller import LIST, Caller
from tests.lib.callers import WALLETS, call_at_once
from tests.lib.processes import StartGunicorn, running_valkey
from tests.lib.serving import served
from tests.lib.waiting import calm_seconds, eventually
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

VOLUME = "/transactions/volume?blockchain=solana&type=kol"


def state(answer: TestResponse) -> tuple[int, int]:
    """The limit, and what remains of it."""
    return int(answer.headers["X-RateLimit-Limit"]), int(answer.headers["X-RateLimit-Remaining"])


def store(url: str) -> valkey.Valkey:
    """A client of the store."""
    return valkey.Valkey.from_url(url.replace("valkey+unix", "unix"))


def stored(url: str) -> int:
    """How many requests the store has counted, of all keys."""
    with store(url) as client:
        return sum(int(client.get(name)) for name in client.keys("LIMITER/*"))


class KillableValkey:
    """A Valkey for this test alone."""

    def __init__(self, home: str, stack: ExitStack) -> None:
        self._home = Path(home)
        self._stack = stack
        self.url = self.start()

    def start(self) -> str:
        """Start it, and return its URL."""
        return self._stack.enter_context(running_valkey(self._home))

    def signal(self, number: int) -> Callable[[int], None]:
        """Send a signal, and return what sends another one."""
        with store(self.url) as client:
            send = partial(os.kill, client.info("server")["process_id"])
        send(number)
        return send


@pytest.fixture
def own_valkey() -> Iterator[KillableValkey]:
    with tempfile.TemporaryDirectory(prefix="wallet-api-valkey-") as home, ExitStack() as stack:
        yield KillableValkey(home, stack)


def test_every_response_has_the_limit_and_what_is_left_of_it_in_the_window(
    new_caller: NewCaller,
) -> None:
    for rate, limit, seconds in (
        (None, 300, 60),
        ("7/second", 7, 1),
        ("7/minute", 7, 60),
        ("7/hour", 7, 3600),
        ("999999999999/day", 999_999_999_999, 86_400),
    ):
        caller = new_caller(f"at {rate}", rate=rate)
        began = time.time()
        answers = [caller.send() for _ in range(3)]
        if began // seconds == time.time() // seconds:
            assert [state(answer) for answer in answers] == [(limit, limit - count) for count in (1, 2, 3)]
        # Windows are aligned to the clock.
        assert int(answers[0].headers["X-RateLimit-Reset"]) == pytest.approx(
            math.ceil(began / seconds) * seconds, abs=1
        )
        assert "Retry-After" not in answers[0].headers


def test_beyond_the_limit_the_response_is_429_with_the_time_to_wait(new_caller: NewCaller) -> None:
    caller = new_caller(rate="2/hour", credits=9)
    assert caller.statuses(2) == [200, 200]
    for _ in range(2):
        refused = caller.send()
        assert (refused.status_code, refused.json["error"]["code"]) == (429, "rate_limited")
        assert (state(refused), refused.headers["X-Credits-Remaining"]) == ((2, 0), "7")
        wait = int(refused.headers["Retry-After"])
        assert 1 <= wait <= 3600
        assert refused.json["error"]["retry_after_seconds"] == wait
        assert abs(int(refused.headers["X-RateLimit-Reset"]) - (time.time() + wait)) <= 2
    quick = new_caller("quick", rate="1/second")
    assert 429 in quick.statuses(3)
    assert eventually(lambda: quick.send().status_code == 200)


def test_all_operations_and_refusals_count_for_the_limit_of_their_key_alone(
    client: FlaskClient, new_caller: NewCaller
) -> None:
    caller, other = new_caller(rate="5/hour"), new_caller("other", rate="5/hour")
    spent = new_caller("spent", rate="5/hour", credits=0)
    unknown = "/wallets/history?blockchain=eth&type=kol&address=0x" + "0" * 40
    answers = [
        caller.send(path)
        for path in (LIST, "/wallets", unknown, VOLUME, f"{LIST}&api_key=a&api_key=b", "/wallets")
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 404, 200, 400, 429]
    assert [state(answer) for answer in answers] == [(5, left) for left in (4, 3, 2, 1, 0, 0)]
    assert state(other.send()) == (5, 4)
    answers = [spent.send() for _ in range(6)]
    assert [(answer.status_code, state(answer)) for answer in answers] == [
        (403, (5, left)) for left in (4, 3, 2, 1, 0, 0)
    ]
    for answer in (client.get(f"/v1{LIST}"), replace(caller, key="wk_unknown").send(), caller.send("/none")):
        assert not [name for name in dict(answer.headers) if name.startswith(("X-RateLimit", "X-Credits"))]


@pytest.mark.settings(key_cache_seconds=0.0)
def test_a_rate_that_is_raised_keeps_the_count_of_the_window(
    new_caller: NewCaller, connection: Connection
) -> None:
    caller = new_caller(rate="3/hour")
    assert caller.statuses(4) == [200, 200, 200, 429]
    connection.execute("UPDATE api_keys SET rate = '5/hour'")
    assert caller.statuses(3) == [200, 200, 429]


def test_a_window_stays_in_the_store_until_a_minute_after_its_end(
    new_caller: NewCaller, valkey_url: str
) -> None:
    reset = int(new_caller(rate="10/day").send().headers["X-RateLimit-Reset"])
    with store(valkey_url) as client:
        (name,) = client.keys("LIMITER/*")
        assert abs(time.time() + client.ttl(name) - (reset + 60)) <= 2


def test_exactly_as_many_as_the_limit_pass_two_workers(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    many, one = (create_key(connection, name, rate="40/hour") for name in ("many", "one"))
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, many, 130, callers=12) == {200: 40, 429: 90}
    answers = [
        # A connection each, so that the workers take turns.
        requests.get(server.url + WALLETS, headers={"Authorization": f"Bearer {one}"}, timeout=60)
        for _ in range(42)
    ]
    assert [answer.status_code for answer in answers] == [200] * 40 + [429] * 2
    assert [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers] == [*range(39, -1, -1), 0, 0]


def test_at_most_a_fiftieth_of_what_remains_passes_a_worker_beyond_the_limit(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection, valkey_url: str
) -> None:
    key = create_key(connection, "caller", rate="100/hour")
    with served(make_app(settings)) as busy, served(make_app(settings)) as idle:
        # One that has counted, and was idle since then.
        assert call_at_once(idle, key, 1, callers=1) == {200: 1}
        answers = call_at_once(busy, key, 200, callers=12)
        assert set(answers) == {200, 429}
        assert 100 <= 1 + answers[200] <= 102
        # What was let through is counted, and what was refused is not.
        assert eventually(lambda: stored(valkey_url) == 1 + answers[200])
        assert call_at_once(idle, key, 50, callers=8)[200] <= 2


def test_counts_of_a_worker_survive_a_store_that_is_killed_or_comes_back_empty(
    caller_of: NewCaller,
    connection: Connection,
    own_valkey: KillableValkey,
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = (create_key(connection, rate, rate=rate) for rate in ("10/hour", "5000/hour", "5/hour"))
    at_one, at_other = (caller_of(valkey_url=own_valkey.url) for _ in range(2))
    small, large, few = (replace(at_one, key=key) for key in keys)
    other = replace(at_other, key=small.key)
    assert [state(small.send()) for _ in range(6)][-1] == (10, 4)
    large.statuses(60)
    assert eventually(lambda: stored(own_valkey.url) == 66)
    with store(own_valkey.url) as client:
        client.flushall()
        client.script_flush()
    assert state(small.send()) == (10, 3)
    assert state(other.send()) == (10, 2)
    large.send()
    assert eventually(lambda: stored(own_valkey.url) == 8 + 61)
    assert state(few.send()) == (5, 4)
    own_valkey.signal(signal.SIGKILL)
    # From what this worker has counted.
    assert few.statuses(5) == [200, 200, 200, 200, 429]
    assert eventually(lambda: caplog.text.count("each worker counts by itself") == 1)
    assert not [caller.key for caller in (small, large, few) if caller.key in caplog.text]
    own_valkey.start()
    assert state(other.send())[1] <= 1
    assert {*other.statuses(2)} == {200, 429}


def test_a_name_that_something_else_has_in_the_store_takes_no_other_count_away(
    caller_of: NewCaller, connection: Connection, own_valkey: KillableValkey, caplog: pytest.LogCaptureFixture
) -> None:
    keys = (create_key(connection, rate, rate=rate) for rate in ("10/hour", "5000/hour"))
    at_one = caller_of(valkey_url=own_valkey.url)
    small, large = (replace(at_one, key=key) for key in keys)
    small.send()
    with store(own_valkey.url) as client:
        (name,) = client.keys("LIMITER/*")
        client.delete(name)
        client.lpush(name, "of another program")
        # By what this worker has counted.
        assert small.statuses(10) == [200] * 9 + [429]
        large.statuses(60)
        assert eventually(
            lambda: [client.get(key) for key in client.keys("LIMITER/*") if key != name] == [b"60"]
        )
        assert client.type(name) == b"list"
    assert "each worker counts by itself" not in caplog.text


def test_without_a_store_each_process_counts_by_itself(caller_of: NewCaller, new_caller: NewCaller) -> None:
    key = new_caller("few", rate="2/hour").key
    assert replace(caller_of(valkey_url=None), key=key).statuses(3) == [200, 200, 429]


def test_a_store_that_hangs_delays_only_one_request(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    own_valkey: KillableValkey,
) -> None:
    own = replace(settings, valkey_url=own_valkey.url)
    app = make_app(own)
    caller = Caller(app.test_client(), create_key(connection, "caller", rate="40/hour"))
    limits = app.extensions["wallet_api"].gate.limits.windows
    caller.send()
    # It accepts connections, and does not respond.
    resume = own_valkey.signal(signal.SIGSTOP)
    try:
        for requests_sent, most_seconds in ((1, 1.5), (20, 1.0)):
            began = calm_seconds()
            assert {*caller.statuses(requests_sent)} == {200}
            assert calm_seconds() - began < most_seconds
    finally:
        resume(signal.SIGCONT)
    assert eventually(lambda: not limits.away)
    # What was counted meanwhile is in the store now, and not only here. The one that hung may count twice.
    _, remaining = state(caller.send())
    assert remaining in (40 - 23, 40 - 24)
    other = replace(caller, client=make_app(own).test_client())
    assert state(other.send()) == (40, remaining - 1)
