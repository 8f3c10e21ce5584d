"""Slow questions through gunicorn: who would wait for long is refused, and others go on meanwhile."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import requests

from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, GROUP
from tests.lib.attacks import Target, p99, waits_of_others
from tests.lib.callers import callers, get
from tests.lib.outages import is_our_refusal
from tests.lib.processes import StartGunicorn
from tests.lib.settings import changed
from tests.lib.waiting import PATIENCE_SECONDS, calm_seconds, eventually, waiting
from tests.stub.moralis import Portfolio
from tests.stub.server import Stub
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

BOARD = "/v1/wallet/leaderboard?blockchain=solana&type=kol&period="
COUNT = "/v1/transactions/count?blockchain=solana&type=kol"
HISTORY = f"/v1/wallets/history?blockchain=solana&type=kol&address={ANN}"
LIGHT = ["/healthz", "/docs", f"{BOARD}7d"]
CALLERS = 40
# The document of faults has the figures of a machine that does nothing else.
MOST_SECONDS = 1.0

# What goes on beside requests has so many.
BACKGROUND_CONNECTIONS = 2

Serve = Callable[..., Target]


@pytest.fixture
def serve(settings: Settings, gunicorn: StartGunicorn, key: str) -> Serve:
    """Start one worker of four threads, which keeps leaderboards for long and has responded already."""

    def start(**changes: object) -> Target:
        own = changed(settings, leaderboard_ttl_seconds=3600.0, **changes)
        target = Target(gunicorn(own, workers=1, threads=4).url, None, key, "")
        waits_of_others(target, LIGHT, 0.3)
        return target

    return start


@contextmanager
def _locked(connection: Connection, table: str = "trades") -> Iterator[None]:
    """In this block no statement can read the table."""
    with connection.transaction():
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def test_callers_of_a_slow_first_response_are_refused_at_once_or_wait_for_it(
    serve: Serve, connection: Connection, key: str
) -> None:
    target = serve(answer_ttl_seconds=60.0)
    # A leaderboard, and a cached response.
    for path in (f"{BOARD}30d", COUNT):
        with ThreadPoolExecutor(CALLERS) as pool:
            with _locked(connection):
                answers = [
                    pool.submit(requests.get, target.url + path, headers=_bearer(key), timeout=60)
                    for _ in range(CALLERS)
                ]
                waits = waits_of_others(target, LIGHT, 1.5)
                refused = [answer.result() for answer in answers if answer.done()]
            statuses = Counter(answer.result().status_code for answer in answers)
            assert set(statuses) == {200, 503}
            # One computes it, and another one waits: two of four threads.
            assert statuses[200] == 2
            assert len(refused) == CALLERS - 2
            assert all(is_our_refusal(answer) for answer in refused)
        assert p99(waits) < MOST_SECONDS


def test_keys_are_looked_up_and_charged_while_many_questions_hang(
    serve: Serve, connection: Connection, key: str
) -> None:
    target = serve()
    poor = create_key(connection, "poor", rate="1000000/second", credits=500)
    unknown_keys = _unknown_keys(connection)
    Importer(connection.info.dsn).wallets([GROUP | {"wallet_address": ANN}])
    histories = [f"{target.url}{HISTORY}&limit={limit}" for limit in range(1, 17)]
    with ExitStack() as stack:
        stack.enter_context(_locked(connection))
        slow = [
            stack.enter_context(callers(get(history, headers=_bearer(key)), 1, 0.05)) for history in histories
        ]
        # The last key is charged by a statement for each response.
        waits = [_seconds_of(target, unknown) for unknown in unknown_keys]
        waits += [_seconds_of(target, poor) for _ in range(40)]
    assert p99(sorted(waits)) < MOST_SECONDS
    refusals = [refusal for met in slow for refusal in met.refusals]
    assert all(is_our_refusal(refusal) for refusal in refusals)
    assert any("Too many slow requests" in refusal.text for refusal in refusals)
    row = connection.execute("SELECT credits FROM api_keys WHERE name = 'poor'").fetchone()
    assert row == {"credits": 460}


def test_keys_that_cannot_be_read_leave_threads_to_others(
    serve: Serve, connection: Connection, key: str
) -> None:
    target = serve(key_cache_seconds=60.0)
    unknown_keys = _unknown_keys(connection)
    with ExitStack() as stack:
        stack.enter_context(_locked(connection, "api_keys"))
        refused = [
            stack.enter_context(callers(get(f"{target.url}{BOARD}7d", headers=_bearer(unknown)), 1, 0.05))
            for unknown in unknown_keys
        ]
        waits = waits_of_others(target, LIGHT, 2.5)
    assert p99(waits) < MOST_SECONDS
    assert not any(met.failures for met in refused)
    assert {status for met in refused for status in met.statuses} <= {200, 503}
    assert all(met.statuses[503] for met in refused)


def test_refreshes_that_hang_leave_connections_to_others(
    serve: Serve, connection: Connection, key: str, stub: Stub
) -> None:
    node = f"{stub.url}/rpc/eth/node"
    addresses = [f"0x{number:040x}" for number in range(24)]
    for address in addresses:
        stub.portfolios["eth", address] = Portfolio(1, ())
    Importer(connection.info.dsn).wallets(
        {"blockchain": "eth", "type": "kol", "wallet_address": address} for address in addresses
    )
    unknown_keys = _unknown_keys(connection)
    target = serve(eth_provider="rpc", eth_rpc_url=node, holdings_wait_seconds=0.1)
    with _locked(connection, "positions"):
        for address in addresses:
            holdings = f"{target.url}/v1/wallets/holdings?blockchain=eth&address={address}"
            requests.get(holdings, headers=_bearer(key), timeout=60)
        assert eventually(lambda: waiting(connection) >= 1)
        waits = [_seconds_of(target, unknown) for unknown in unknown_keys]
        assert waiting(connection) <= BACKGROUND_CONNECTIONS
    assert p99(sorted(waits)) < MOST_SECONDS


def _unknown_keys(connection: Connection) -> list[str]:
    """Return keys that no worker has looked up."""
    return [create_key(connection, f"unknown {number}") for number in range(20)]


def _seconds_of(target: Target, key: str) -> float:
    """Return how long a cached leaderboard takes with a key."""
    began = calm_seconds()
    response = requests.get(f"{target.url}{BOARD}7d", headers=_bearer(key), timeout=PATIENCE_SECONDS)
    assert response.status_code == 200, response.text
    return calm_seconds() - began


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
