"""Fresh, stale, loading and unavailable: the responses, and how often the provider is requested."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest
from werkzeug.test import TestResponse

from tests.holdings.conftest import (
    Hold,
    Send,
    SendAt,
    active,
    evm_token,
    has_loaded,
    save_snapshot,
    until,
    wait_for_refreshes,
)
from tests.lib.waiting import calm_seconds
from tests.stub import faults
from tests.stub.moralis import Portfolio
from tests.stub.server import Stub
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

LOADING = {"tokens": [], "count": 0, "last_updated": None, "stale": False, "loading": True}
WAIT = 0.5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, holdings_wait_seconds=20.0, holdings_failure_seconds=2.0, web_threads=8)


@pytest.fixture
def hasty(send_at: SendAt) -> Send:
    """Request the operation where a request waits for WAIT seconds."""
    return send_at(holdings_wait_seconds=WAIT)


def native(response: TestResponse) -> str:
    return str(active(response)["tokens"][0]["amount"])


def is_fresh(response: TestResponse) -> bool:
    found = active(response)
    return not found["stale"] and not found["loading"]


def cached(response: TestResponse) -> tuple[bool, int]:
    assert response.json is not None
    return response.json["meta"]["cached"], response.json["meta"]["cache_age_seconds"]


class TestFresh:
    def test_the_first_request_waits_for_the_provider_and_later_ones_send_none(
        self, send: Send, send_at: SendAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        first = send("eth", address)
        assert (native(first), active(first)["stale"], cached(first)) == ("7", False, (False, 0))
        stub.portfolios["eth", address] = Portfolio(8, ())
        # In any form of the address, by the other path, and of a worker that is started later.
        for response in (
            send("eth", address),
            send("eth", address.upper().replace("0X", "0x")),
            send("eth", address, path="wallet"),
            send_at()("eth", address),
        ):
            assert active(response) == active(first)
            assert cached(response)[0] is True
        assert stub.requested[address] == 1

    def test_the_age_is_that_of_the_snapshot(self, send: Send, connection: Connection, track: Hold) -> None:
        address = track("eth", native=7)
        save_snapshot(connection, address, age_seconds=40)
        response = send("eth", address)
        assert 40 <= cached(response)[1] <= 42
        assert active(response)["stale"] is False


class TestStale:
    def test_a_stale_snapshot_is_returned_at_once_and_refreshed_once(
        self, send: Send, send_at: SendAt, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=8)
        save_snapshot(connection, address, age_seconds=100)
        stub.scenarios[address] = faults.hang(stub.release)
        workers = [send, send_at()]
        with ThreadPoolExecutor(16) as pool:
            began = calm_seconds()
            answers = list(pool.map(lambda number: workers[number % 2]("eth", address), range(40)))
            assert calm_seconds() - began < 3
        for response in answers:
            assert (active(response)["stale"], native(response)) == (True, "1")
            assert cached(response)[0] is True
            assert cached(response)[1] >= 100
        stub.release.set()
        for worker in workers:
            assert native(until(partial(worker, "eth", address), is_fresh)) == "8"
        assert stub.requested[address] == 1

    def test_a_failure_leaves_the_snapshot_and_is_remembered_for_a_while(
        self, send: Send, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=8)
        save_snapshot(connection, address, age_seconds=100)
        stub.scenarios[address] = faults.in_turn(faults.status(400))
        assert active(send("eth", address))["stale"] is True
        wait_for_refreshes()
        assert active(send("eth", address))["stale"] is True
        assert stub.requested[address] == 1
        assert native(until(lambda: send("eth", address), is_fresh)) == "8"


class TestLoading:
    def test_with_a_slow_provider_the_response_is_loading_and_free(
        self, hasty: Send, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        send = partial(hasty, "eth", address, key=create_key(connection, "one", credits=1))
        for _ in range(2):
            began, calm = time.monotonic(), calm_seconds()
            response = send()
            assert time.monotonic() - began >= WAIT
            assert calm_seconds() - calm < WAIT + 0.5
            assert (active(response), cached(response)) == (LOADING, (False, 0))
            assert response.headers["X-Credits-Remaining"] == "1"
        stub.release.set()
        paid = until(send, has_loaded)
        assert (native(paid), paid.headers["X-Credits-Remaining"]) == ("7", "0")
        assert send().status_code == 403

    def test_requests_that_wait_get_the_result_of_one_fetch_of_another_worker(
        self, send: Send, send_at: SendAt, hasty: Send, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        assert active(hasty("eth", address)) == LOADING
        with ThreadPoolExecutor(6) as pool:
            # Of each worker fewer than half of the threads.
            waiting = [pool.submit(worker, "eth", address) for worker in 3 * [send, send_at()]]
            threading.Timer(0.2, stub.release.set).start()
            began = calm_seconds()
            assert [native(each.result()) for each in waiting] == ["7"] * 6
            assert calm_seconds() - began < 1.0
        assert stub.requested[address] == 1

    def test_at_most_half_of_the_web_threads_wait(self, send_at: SendAt, track: Hold, stub: Stub) -> None:
        addresses = [track("eth") for _ in range(6)]
        stub.scenarios |= dict.fromkeys(addresses, faults.hang(stub.release))
        send = send_at(web_threads=4, holdings_wait_seconds=2.0, holdings_fetch_seconds=60.0)

        def waits(address: str) -> bool:
            began = time.monotonic()
            assert active(send("eth", address)) == LOADING
            return time.monotonic() - began >= 2.0

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(waits, addresses)) == 2
        stub.release.set()

    def test_without_patience_the_fetch_is_started_all_the_same(self, send_at: SendAt, track: Hold) -> None:
        send, address = send_at(holdings_wait_seconds=0.0), track("eth", native=7)
        assert active(send("eth", address)) == LOADING
        assert native(until(lambda: send("eth", address), is_fresh)) == "7"

    def test_a_provider_that_hangs_on_one_chain_leaves_the_others_alone(
        self, send_at: SendAt, track: Hold, stub: Stub
    ) -> None:
        # With a single thread of its own, the worker waits for no provider.
        send = send_at(web_threads=1)
        for _ in range(17):
            address = track("eth")
            stub.scenarios[address] = faults.hang(stub.release)
            assert active(send("eth", address)) == LOADING
        other = track("base", native=7)
        assert native(until(lambda: send("base", other), is_fresh)) == "7"
        # The last one on eth found all 16 threads taken.
        assert len(stub.requested) == 16 + 1


class TestUnavailable:
    def test_a_failure_without_a_snapshot_is_a_503_and_remembered_for_a_while(
        self, send: Send, send_at: SendAt, track: Hold, stub: Stub
    ) -> None:
        address, other = track("eth", native=7), send_at()
        stub.scenarios[address] = faults.in_turn(faults.status(400))
        for worker in (send, send, other):
            response = worker("eth", address)
            assert response.status_code == 503
            assert response.headers["Retry-After"] in ("1", "2")
            assert response.json["error"]["code"] == "service_unavailable"
        assert stub.requested[address] == 1
        assert native(until(lambda: send("eth", address), lambda got: got.status_code == 200)) == "7"

    def test_a_later_page_that_fails_makes_all_fail(self, send: Send, track: Hold, stub: Stub) -> None:
        address = track("eth", tokens=tuple(evm_token(number, 1) for number in range(250)))
        stub.scenarios[address] = faults.later_pages(faults.status(500))
        assert send("eth", address).status_code == 503

    def test_a_wallet_too_large_for_the_provider_is_left_alone_for_long(
        self, send: Send, track: Hold, stub: Stub
    ) -> None:
        address = track("eth")
        stub.scenarios[address] = faults.status(400, faults.OVER_2000)
        response = send("eth", address)
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) > 500
        assert "more tokens" in response.json["error"]["message"]


class TestNotConfigured:
    @pytest.mark.parametrize(
        ("chain", "changes"),
        [
            ("solana", {"moralis_api_key": None}),
            ("bnb", {"bnb_provider": "rpc", "bnb_rpc_url": None}),
            ("base", {"base_provider": "alchemy", "alchemy_api_key": None}),
            # Its node is of another chain.
            ("eth", {"eth_provider": "rpc"}),
        ],
    )
    def test_an_error_that_no_wait_can_end_has_no_retry_after(
        self, send_at: SendAt, track: Hold, stub: Stub, chain: str, changes: dict[str, str | None]
    ) -> None:
        stub.nodes.chain_ids["eth"] = 56
        # With one thread no request waits, and still none has the time of the next one.
        send, address = send_at(web_threads=2 if chain == "eth" else 1, **changes), track(chain)
        for _ in range(3):
            response = send(chain, address)
            assert (response.status_code, response.json["error"]["code"]) == (503, "service_unavailable")
            assert response.json["error"]["reason"] == "provider_not_configured"
            assert "Retry-After" not in response.headers

    def test_other_chains_and_earlier_balances_are_still_returned(
        self, send_at: SendAt, connection: Connection, track: Hold, hold: Hold
    ) -> None:
        send = send_at(eth_provider="alchemy", alchemy_api_key=None)
        known = track("eth")
        save_snapshot(connection, known, age_seconds=100)
        for _ in range(2):
            assert active(send("eth", known))["stale"] is True
        assert native(send("base", track("base", native=7))) == "7"
        untracked = send("eth", hold("eth"))
        assert (untracked.status_code, untracked.json["error"]["reason"]) == (404, "wallet_not_found")


class TestWorkersThatCrash:
    def test_the_claim_of_a_crashed_worker_lapses(
        self, send: Send, hasty: Send, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        connection.execute(
            """
            INSERT INTO holdings_snapshots (wallet_id, claim, claimed_at, claim_expires_at)
            SELECT wallet_id, gen_random_uuid(), now(), now() + interval '3 seconds' FROM wallets
            """
        )
        assert active(hasty("eth", address)) == LOADING
        assert not stub.requested
        assert native(until(lambda: send("eth", address), is_fresh)) == "7"

    def test_a_late_result_does_not_replace_a_newer_one(
        self, send: Send, hasty: Send, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        assert active(hasty("eth", address)) == LOADING
        # The claim lapses, and another worker reads and saves.
        save_snapshot(connection, address, age_seconds=0)
        stub.release.set()
        wait_for_refreshes()
        assert stub.requested[address] == 1
        assert native(send("eth", address)) == "1"
