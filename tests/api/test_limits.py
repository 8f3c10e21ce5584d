"""The rate limit with real workers: N requests pass, and the headers report the state."""

import math
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import requests
import valkey
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.callers import WALLETS, call_at_once
from tests.processes import StartGunicorn, running_valkey
from tests.waiting import eventually
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings


def _ask(client: FlaskClient, key: str, path: str = WALLETS) -> TestResponse:
    return client.get(path, headers={"Authorization": f"Bearer {key}"})


def _state(answer: TestResponse) -> tuple[int, int]:
    headers = answer.headers
    return int(headers["X-RateLimit-Limit"]), int(headers["X-RateLimit-Remaining"])


def _store(url: str) -> valkey.Valkey:
    return valkey.Valkey.from_url(url.replace("valkey+unix", "unix"))


def _stored(url: str) -> int:
    """How many requests the store has counted, of all keys."""
    with _store(url) as store:
        return sum(int(store.get(name)) for name in store.keys("LIMITER/*"))


class KillableValkey:
    """A Valkey for this test alone."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="wallet-api-valkey-")
        self._stack = ExitStack()
        self.url = self.start()

    def start(self) -> str:
        return self._stack.enter_context(running_valkey(Path(self._home.name)))

    def client(self) -> valkey.Valkey:
        return _store(self.url)

    def signal(self, number: int) -> None:
        with self.client() as client:
            os.kill(client.info("server")["process_id"], number)

    def close(self) -> None:
        self._stack.close()
        self._home.cleanup()


@pytest.fixture
def own_valkey() -> Iterator[KillableValkey]:
    store = KillableValkey()
    yield store
    store.close()


@contextmanager
def _stopped(store: KillableValkey) -> Iterator[None]:
    """The store accepts connections, and does not respond."""
    with store.client() as client:
        process = client.info("server")["process_id"]
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_every_response_has_limit_remaining_and_reset(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", rate="5/day")
    answers = [_ask(client, key) for _ in range(3)]
    assert [_state(answer) for answer in answers] == [(5, 4), (5, 3), (5, 2)]
    for answer in answers:
        # Windows are aligned to the clock.
        assert int(answer.headers["X-RateLimit-Reset"]) == 86400 * math.ceil(time.time() / 86400)
        assert "Retry-After" not in answer.headers


def test_the_default_rate_applies_to_a_key_without_a_rate(
    client: FlaskClient, connection: Connection
) -> None:
    assert _state(_ask(client, create_key(connection, "caller"))) == (300, 299)


def test_a_rate_is_per_second_minute_hour_or_day(client: FlaskClient, connection: Connection) -> None:
    for period, seconds in (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86400)):
        answer = _ask(client, create_key(connection, period, rate=f"7/{period}"))
        assert _state(answer) == (7, 6)
        assert 0 <= int(answer.headers["X-RateLimit-Reset"]) - time.time() <= seconds + 1


def test_beyond_the_limit_the_response_is_429_with_the_time_to_wait(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="2/hour", credits=9)
    for _ in range(2):
        assert _ask(client, key).status_code == 200
    for _ in range(3):
        refused = _ask(client, key)
        assert refused.status_code == 429
        assert refused.json is not None
        assert set(refused.json) == {"success", "error", "meta"}
        assert refused.json["error"]["code"] == "rate_limited"
        assert _state(refused) == (2, 0)
        assert refused.headers["X-Credits-Remaining"] == "7"
        wait = int(refused.headers["Retry-After"])
        assert 1 <= wait <= 3600
        assert abs(int(refused.headers["X-RateLimit-Reset"]) - (time.time() + wait)) <= 2


def test_after_the_window_requests_pass_again(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller", rate="1/second")
    assert _ask(client, key).status_code == 200
    assert _ask(client, key).status_code == 429
    assert eventually(lambda: _ask(client, key).status_code == 200, 5)


def test_refused_arguments_and_missing_credits_count_for_the_limit(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="4/hour", credits=0)
    answers = [
        _ask(client, key, "/v1/wallets"),
        _ask(client, key, "/v1/wallets/history?blockchain=eth&type=kol&address=0x" + "0" * 40),
        _ask(client, key),
        _ask(client, key, f"{WALLETS}&api_key=a&api_key=b"),
        _ask(client, key, "/v1/wallets"),
    ]
    assert [answer.status_code for answer in answers] == [400, 404, 403, 400, 429]
    assert [_state(answer) for answer in answers] == [(4, 3), (4, 2), (4, 1), (4, 0), (4, 0)]


def test_operations_share_the_limit_and_keys_do_not(client: FlaskClient, connection: Connection) -> None:
    one = create_key(connection, "one", rate="2/hour")
    two = create_key(connection, "two", rate="2/hour")
    volume = "/v1/transactions/volume?blockchain=solana&type=kol"
    assert [_ask(client, one, path).status_code for path in (WALLETS, volume, WALLETS)] == [200, 200, 429]
    assert _ask(client, two).status_code == 200


def test_a_refusal_of_the_key_has_no_headers_of_limits(client: FlaskClient) -> None:
    for answer in (client.get(WALLETS), _ask(client, "wk_unknown"), client.get("/v1/nothing")):
        assert not [name for name in dict(answer.headers) if name.startswith(("X-RateLimit", "X-Credits"))]


def test_exactly_40_of_40_an_hour_pass_two_workers(gunicorn: StartGunicorn, connection: Connection) -> None:
    key = create_key(connection, "caller", rate="40/hour")
    server = gunicorn(workers=2, threads=4)
    assert call_at_once(server.url, key, 130, callers=12) == {200: 40, 429: 90}


def test_one_caller_over_two_workers_sees_the_count_go_down_by_one(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="40/hour")
    server = gunicorn(workers=2, threads=1)
    answers = [
        # A connection each, so that the workers take turns.
        requests.get(server.url + WALLETS, headers={"Authorization": f"Bearer {key}"}, timeout=20)
        for _ in range(42)
    ]
    assert [answer.status_code for answer in answers] == [200] * 40 + [429] * 2
    assert [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers] == [*range(39, -1, -1), 0, 0]


def test_of_a_large_limit_at_most_a_fiftieth_more_passes_each_worker(
    gunicorn: StartGunicorn, connection: Connection, valkey_url: str
) -> None:
    key = create_key(connection, "caller", rate="1000/hour")
    server = gunicorn(workers=4, threads=4)
    answers = call_at_once(server.url, key, 1_400, callers=12)
    assert set(answers) == {200, 429}
    assert 1_000 <= answers[200] <= 1_000 + 4 * 1_000 // 50
    # What was let through is counted, and what was refused is not.
    assert eventually(lambda: _stored(valkey_url) == answers[200], 2)


def test_workers_that_were_idle_count_what_others_have_let_through(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="1000/hour")
    one, two = gunicorn(workers=1), gunicorn(workers=1)
    assert call_at_once(two.url, key, 1, callers=1) == {200: 1}
    assert call_at_once(one.url, key, 1_200, callers=8)[200] <= 1_000 + 20
    assert call_at_once(two.url, key, 100, callers=1)[200] <= 20


def test_counts_of_a_worker_survive_a_store_that_comes_back_empty(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    own_valkey: KillableValkey,
) -> None:
    own = replace(settings, valkey_url=own_valkey.url)
    client, other = make_app(own).test_client(), make_app(own).test_client()
    small = create_key(connection, "small", rate="10/hour")
    large = create_key(connection, "large", rate="5000/hour")
    assert [_state(_ask(client, small)) for _ in range(6)][-1] == (10, 4)
    for _ in range(60):
        _ask(client, large)
    assert eventually(lambda: _stored(own_valkey.url) == 66, 2)
    with own_valkey.client() as store:
        store.flushall()
        store.script_flush()
    assert _state(_ask(client, small)) == (10, 3)
    assert _state(_ask(other, small)) == (10, 2)
    _ask(client, large)
    assert eventually(lambda: _stored(own_valkey.url) == 8 + 61, 2)

    own_valkey.signal(signal.SIGKILL)
    own_valkey.start()
    assert _state(_ask(other, small))[1] <= 1
    assert {_ask(other, small).status_code for _ in range(2)} == {200, 429}


def test_a_window_stays_in_the_store_until_a_minute_after_its_end(
    client: FlaskClient, connection: Connection, valkey_url: str
) -> None:
    reset = int(_ask(client, create_key(connection, "caller", rate="10/day")).headers["X-RateLimit-Reset"])
    with _store(valkey_url) as store:
        (name,) = store.keys("LIMITER/*")
        assert abs(time.time() + store.ttl(name) - (reset + 60)) <= 2


@pytest.mark.settings(key_cache_seconds=0.0)
def test_a_rate_that_is_raised_keeps_the_count_of_the_window(
    client: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="3/hour")
    assert [_ask(client, key).status_code for _ in range(4)] == [200, 200, 200, 429]
    connection.execute("UPDATE api_keys SET rate = '5/hour'")
    assert [_ask(client, key).status_code for _ in range(3)] == [200, 200, 429]


def test_without_a_store_each_process_counts_by_itself(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    app = make_app(replace(settings, valkey_url=None))
    key = create_key(connection, "caller", rate="2/hour")
    assert [_ask(app.test_client(), key).status_code for _ in range(3)] == [200, 200, 429]


def test_requests_pass_while_the_store_is_killed_and_it_counts_again_afterwards(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    own_valkey: KillableValkey,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = replace(settings, valkey_url=own_valkey.url)
    app, other = make_app(own), make_app(own)
    limits = app.extensions["wallet_api"].gate.limits.windows
    key = create_key(connection, "caller", rate="5/hour")
    assert _state(_ask(app.test_client(), key)) == (5, 4)
    assert _state(_ask(other.test_client(), key)) == (5, 3)
    own_valkey.signal(signal.SIGKILL)

    # From what this process knew: one call was counted.
    began = time.monotonic()
    answers = [_ask(app.test_client(), key) for _ in range(5)]
    assert time.monotonic() - began < 1.0
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429]
    assert _state(answers[0]) == (5, 3)
    assert limits.away

    own_valkey.start()
    assert eventually(lambda: not limits.away, 2.0)
    fresh = create_key(connection, "fresh", rate="5/hour")
    assert _state(_ask(app.test_client(), fresh)) == (5, 4)
    assert _state(_ask(other.test_client(), fresh)) == (5, 3)
    assert caplog.text.count("each worker counts by itself") == 1
    assert key not in caplog.text


def test_a_store_that_hangs_delays_only_one_request(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    own_valkey: KillableValkey,
) -> None:
    app = make_app(replace(settings, valkey_url=own_valkey.url))
    limits = app.extensions["wallet_api"].gate.limits.windows
    key = create_key(connection, "caller", rate="40/hour")
    _ask(app.test_client(), key)
    with _stopped(own_valkey):
        began = time.monotonic()
        assert _ask(app.test_client(), key).status_code == 200
        assert time.monotonic() - began < 1.5
        began = time.monotonic()
        assert {_ask(app.test_client(), key).status_code for _ in range(20)} == {200}
        assert time.monotonic() - began < 1.0
        assert limits.away
    assert eventually(lambda: not limits.away, 2.0)
    # What was counted meanwhile is in the store now, and not only here. The call that hung may count twice.
    _, remaining = _state(_ask(app.test_client(), key))
    assert remaining in (40 - 23, 40 - 24)
    other = make_app(replace(settings, valkey_url=own_valkey.url))
    assert _state(_ask(other.test_client(), key)) == (40, remaining - 1)
