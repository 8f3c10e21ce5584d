"""Fresh, stale, loading and unavailable: the responses, and how often the provider is requested."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.holdings.conftest import Ask, AskAt, Hold, active, evm_token, wait_for_refreshes
from tests.stub import faults
from tests.stub.moralis import Portfolio
from tests.stub.server import Stub
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

LOADING = {"tokens": [], "count": 0, "last_updated": None, "stale": False, "loading": True}
WAIT = 0.5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, holdings_wait_seconds=WAIT, holdings_failure_seconds=0.4, web_threads=8)


def native(response: TestResponse) -> str:
    return str(active(response)["tokens"][0]["amount"])


def until(answer: Callable[[], TestResponse], wanted: Callable[[TestResponse], bool]) -> TestResponse:
    """Repeat the request until the response is as wanted, and return it."""
    deadline = time.monotonic() + 5
    while not wanted(response := answer()):
        assert time.monotonic() < deadline, response.text
        time.sleep(0.02)
    return response


class TestFresh:
    def test_the_first_request_waits_for_the_provider(self, ask: Ask, track: Hold) -> None:
        response = ask("eth", track("eth", native=7))
        assert native(response) == "7"
        assert active(response)["stale"] is False
        assert (response.json["meta"]["cached"], response.json["meta"]["cache_age_seconds"]) == (False, 0)

    def test_a_second_request_within_the_ttl_sends_none_to_the_provider(
        self, ask: Ask, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        first = ask("eth", address)
        stub.portfolios["eth", address] = Portfolio(8, ())
        second = ask("eth", address)
        assert active(second) == active(first)
        assert second.json["meta"]["cached"] is True
        assert stub.asked[address] == 1

    def test_a_request_to_another_worker_sends_none_to_the_provider(
        self, ask: Ask, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        ask("eth", address)
        response = ask_at()("eth", address)
        assert native(response) == "7"
        assert response.json["meta"]["cached"] is True
        assert stub.asked[address] == 1

    def test_the_age_is_that_of_the_snapshot(self, ask: Ask, connection: Connection, track: Hold) -> None:
        address = track("eth", native=7)
        _saved(connection, address, age_seconds=40)
        response = ask("eth", address)
        assert 40 <= response.json["meta"]["cache_age_seconds"] <= 42
        assert active(response)["stale"] is False

    def test_the_alias_is_the_same_operation(self, client: FlaskClient, api_key: str, track: Hold) -> None:
        query = {"blockchain": "eth", "address": track("eth", native=7), "api_key": api_key}
        answers = [
            client.get(path, query_string=query) for path in ("/v1/wallet/holdings", "/v1/wallets/holdings")
        ]
        assert active(answers[0]) == active(answers[1])

    def test_evm_addresses_are_compared_without_case(self, ask: Ask, track: Hold, stub: Stub) -> None:
        address = track("eth", native=7)
        for form in (address, address.upper().replace("0X", "0x")):
            assert native(ask("eth", form)) == "7"
        assert stub.asked[address] == 1


class TestStale:
    def test_a_stale_snapshot_is_returned_at_once_and_refreshed_once(
        self, ask: Ask, ask_at: AskAt, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=8)
        _saved(connection, address, age_seconds=100)
        stub.scenarios[address] = faults.hang(stub.release)
        workers = [ask, ask_at()]
        with ThreadPoolExecutor(16) as pool:
            began = time.monotonic()
            answers = list(pool.map(lambda number: workers[number % 2]("eth", address), range(40)))
            assert time.monotonic() - began < 3
        for response in answers:
            assert active(response)["stale"] is True
            assert native(response) == "1"
            assert response.json["meta"]["cached"] is True
            assert response.json["meta"]["cache_age_seconds"] >= 100
        stub.release.set()
        for worker in workers:
            response = until(
                lambda worker=worker: worker("eth", address), lambda got: not active(got)["stale"]
            )
            assert native(response) == "8"
        assert stub.asked[address] == 1

    def test_a_failure_leaves_the_snapshot_and_is_remembered(
        self, ask: Ask, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth")
        _saved(connection, address, age_seconds=100)
        stub.scenarios[address] = faults.status(400)
        assert active(ask("eth", address))["stale"] is True
        until(lambda: ask("eth", address), lambda _: _failure(connection, address) is not None)
        for _ in range(5):
            assert active(ask("eth", address))["stale"] is True
        assert stub.asked[address] == 1

    def test_after_the_failure_the_wallet_is_refreshed(
        self, ask: Ask, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=8)
        _saved(connection, address, age_seconds=100)
        stub.scenarios[address] = faults.in_turn(faults.status(400))
        response = until(lambda: ask("eth", address), lambda got: not active(got)["stale"])
        assert native(response) == "8"


class TestLoading:
    def test_with_a_slow_provider_the_first_response_is_loading(
        self, ask: Ask, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        began = time.monotonic()
        response = ask("eth", address)
        assert WAIT <= time.monotonic() - began < WAIT + 0.5
        assert active(response) == LOADING
        assert (response.json["meta"]["cached"], response.json["meta"]["cache_age_seconds"]) == (False, 0)
        stub.release.set()
        assert native(until(lambda: ask("eth", address), lambda got: not active(got)["loading"])) == "7"
        assert stub.asked[address] == 1

    def test_a_request_that_waits_gets_the_result_of_another_worker(
        self, ask: Ask, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        other = ask_at(holdings_wait_seconds=5.0)
        assert active(ask("eth", address)) == LOADING
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(other, "eth", address)
            threading.Timer(0.2, stub.release.set).start()
            began = time.monotonic()
            assert native(waiting.result()) == "7"
            assert time.monotonic() - began < 1.0
        assert stub.asked[address] == 1

    def test_loading_costs_no_credit(
        self, client: FlaskClient, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        query = {"blockchain": "eth", "address": address, "api_key": create_key(connection, "one", credits=1)}

        def call() -> TestResponse:
            return client.get("/v1/wallets/holdings", query_string=query)

        for _ in range(3):
            response = call()
            assert active(response) == LOADING
            assert response.headers["X-Credits-Remaining"] == "1"
        stub.release.set()
        paid = until(call, lambda got: not active(got)["loading"])
        assert paid.headers["X-Credits-Remaining"] == "0"
        assert call().status_code == 403

    def test_at_most_half_of_the_web_threads_wait(self, ask_at: AskAt, track: Hold, stub: Stub) -> None:
        addresses = [track("eth") for _ in range(6)]
        for address in addresses:
            stub.scenarios[address] = faults.hang(stub.release)
        ask = ask_at(web_threads=4, holdings_wait_seconds=2.0)

        def seconds(address: str) -> float:
            began = time.monotonic()
            assert active(ask("eth", address)) == LOADING
            return time.monotonic() - began

        with ThreadPoolExecutor(6) as pool:
            times = sorted(pool.map(seconds, addresses))
        assert [time < 1.0 for time in times] == [True] * 4 + [False] * 2

    def test_without_patience_the_fetch_is_started_all_the_same(self, ask_at: AskAt, track: Hold) -> None:
        ask, address = ask_at(holdings_wait_seconds=0.0), track("eth", native=7)
        assert active(ask("eth", address)) == LOADING
        assert native(until(lambda: ask("eth", address), lambda got: not active(got)["loading"])) == "7"

    def test_a_provider_that_hangs_on_one_chain_leaves_the_others_alone(
        self, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        # With a single thread of its own, the worker waits for no provider.
        ask = ask_at(web_threads=1)
        for _ in range(17):
            address = track("eth")
            stub.scenarios[address] = faults.hang(stub.release)
            assert active(ask("eth", address)) == LOADING
        other = track("base", native=7)
        assert native(until(lambda: ask("base", other), lambda got: not active(got)["loading"])) == "7"
        # The last one on eth found all 16 threads taken.
        assert len(stub.asked) == 16 + 1

    def test_loading_ends_also_if_the_provider_never_responds(
        self, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth")
        stub.scenarios[address] = faults.hang(stub.release)
        ask = ask_at(holdings_fetch_seconds=1.0)
        assert active(ask("eth", address)) == LOADING
        until(lambda: ask("eth", address), lambda got: got.status_code == 503)


class TestUnavailable:
    def test_a_failure_without_a_snapshot_is_a_503_and_stored(
        self, ask: Ask, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth")
        stub.scenarios[address] = faults.status(400)
        for worker in (ask, ask, ask_at()):
            response = worker("eth", address)
            assert response.status_code == 503
            assert response.json["error"]["code"] == "service_unavailable"
            assert response.headers["Retry-After"] == "1"
        assert stub.asked[address] == 1

    def test_after_the_pause_the_provider_is_requested_again(self, ask: Ask, track: Hold, stub: Stub) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.in_turn(faults.status(400))
        assert ask("eth", address).status_code == 503
        assert native(until(lambda: ask("eth", address), lambda got: got.status_code == 200)) == "7"

    def test_a_later_page_that_fails_makes_all_fail(self, ask: Ask, track: Hold, stub: Stub) -> None:
        address = track("eth", tokens=tuple(evm_token(number, 1) for number in range(250)))
        stub.scenarios[address] = faults.later_pages(faults.status(500))
        assert ask("eth", address).status_code == 503

    def test_a_wallet_too_large_for_the_provider_is_left_alone_for_long(
        self, ask: Ask, track: Hold, stub: Stub
    ) -> None:
        address = track("eth")
        stub.scenarios[address] = faults.status(400, faults.OVER_2000)
        response = ask("eth", address)
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) > 500
        assert "more tokens" in response.json["error"]["message"]

    def test_while_the_breaker_is_open_no_request_is_sent(
        self, ask_at: AskAt, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        ask = ask_at(holdings_breaker_failures=1, holdings_breaker_seconds=60.0)
        failed, unread, known = track("eth"), track("eth"), track("eth")
        _saved(connection, known, age_seconds=100)
        stub.scenarios[failed] = faults.status(500)
        assert ask("eth", failed).status_code == 503
        response = ask("eth", unread)
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) > 30
        assert active(ask("eth", known))["stale"] is True
        assert stub.asked[unread] == stub.asked[known] == 0


class TestNotConfigured:
    @pytest.mark.parametrize(
        ("chain", "changes"),
        [
            ("eth", {"moralis_api_key": None}),
            ("solana", {"moralis_api_key": None}),
            ("bnb", {"bnb_provider": "rpc", "bnb_rpc_url": None}),
            ("base", {"base_provider": "alchemy", "alchemy_api_key": None}),
        ],
    )
    def test_an_error_that_no_wait_can_end_has_no_retry_after(
        self, ask_at: AskAt, track: Hold, chain: str, changes: dict[str, str | None]
    ) -> None:
        # With one thread no request waits, and still none is told to come again.
        ask, address = ask_at(web_threads=1, **changes), track(chain)
        for _ in range(3):
            _is_not_configured(ask(chain, address))

    def test_so_is_that_of_a_node_of_another_chain(self, ask_at: AskAt, track: Hold, stub: Stub) -> None:
        stub.nodes.chain_ids["eth"] = 56
        ask, address = ask_at(eth_provider="rpc"), track("eth")
        for _ in range(2):
            _is_not_configured(ask("eth", address))

    def test_other_chains_and_earlier_balances_are_still_returned(
        self, ask_at: AskAt, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        ask = ask_at(eth_provider="alchemy", alchemy_api_key=None)
        known = track("eth")
        _saved(connection, known, age_seconds=100)
        for _ in range(2):
            assert active(ask("eth", known))["stale"] is True
        assert _failure(connection, known) is None
        assert native(ask("base", track("base", native=7))) == "7"

    def test_an_untracked_wallet_is_still_not_found(self, ask_at: AskAt, hold: Hold) -> None:
        assert ask_at(moralis_api_key=None)("eth", hold("eth")).status_code == 404


def _is_not_configured(response: TestResponse) -> None:
    assert (response.status_code, response.json["error"]["code"]) == (503, "service_unavailable")
    assert response.json["error"]["reason"] == "provider_not_configured"
    assert "Retry-After" not in response.headers


class TestWorkersThatDie:
    def test_the_claim_of_a_dead_worker_lapses(
        self, ask: Ask, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        connection.execute(
            """
            INSERT INTO holdings_snapshots (wallet_id, claim, claimed_at, claim_expires_at)
            SELECT wallet_id, gen_random_uuid(), now(), now() + interval '1 second' FROM wallets
            """
        )
        assert active(ask("eth", address)) == LOADING
        assert not stub.asked
        assert native(until(lambda: ask("eth", address), lambda got: not active(got)["loading"])) == "7"

    def test_a_late_result_does_not_replace_a_newer_one(
        self, ask: Ask, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        stub.scenarios[address] = faults.hang(stub.release)
        assert active(ask("eth", address)) == LOADING
        # The claim lapses, and another worker reads and saves.
        _saved(connection, address, age_seconds=0)
        stub.release.set()
        wait_for_refreshes()
        assert stub.asked[address] == 1
        assert native(ask("eth", address)) == "1"

    def test_snapshots_survive_a_restart_of_the_service(
        self, ask: Ask, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        address = track("eth", native=7)
        before = active(ask("eth", address))
        stub.scenarios[address] = faults.status(500)
        assert active(ask_at()("eth", address)) == before


def test_an_invalid_request_is_refused(client: FlaskClient, api_key: str) -> None:
    wallet = {"blockchain": "eth", "address": "0x" + "0" * 40}
    for query, status, code in (
        ({"blockchain": "eth"}, 400, "missing_parameter"),
        (wallet | {"address": ""}, 400, "missing_parameter"),
        (wallet | {"address": "0x12"}, 400, "invalid_parameter"),
        (wallet | {"address": "9" * 44}, 400, "invalid_parameter"),
        (wallet | {"blockchain": "solana"}, 400, "invalid_parameter"),
        (wallet | {"blockchain": "doge"}, 400, "invalid_parameter"),
        ({"address": wallet["address"]}, 400, "invalid_parameter"),
        (wallet | {"type": "kol"}, 400, "invalid_parameter"),
        (wallet | {"period": "1d"}, 400, "invalid_parameter"),
        (wallet, 404, "not_found"),
    ):
        response = client.get("/v1/wallets/holdings", query_string=query | {"api_key": api_key})
        assert (response.status_code, response.json["error"]["code"]) == (status, code), query
    assert response.json["error"]["reason"] == "wallet_not_found"


def _saved(connection: Connection, address: str, age_seconds: int) -> None:
    """Replace the snapshot by one of this age, with one unit of the native coin."""
    connection.execute(
        """
        INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)
        SELECT wallet_id, 1, '[]', now() - make_interval(secs => %s) FROM wallets WHERE address = %s
            ON CONFLICT (wallet_id) DO UPDATE
           SET native_amount = 1, tokens = '[]', refreshed_at = excluded.refreshed_at,
               claim = NULL, claim_expires_at = NULL
        """,
        (age_seconds, address),
    )


def _failure(connection: Connection, address: str) -> str | None:
    row = connection.execute(
        "SELECT failure FROM holdings_snapshots JOIN wallets USING (wallet_id) WHERE address = %s", (address,)
    ).fetchone()
    return row["failure"] if row is not None else None
