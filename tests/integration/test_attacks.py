"""Attacks on the service behind nginx: others are answered all the same."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
import requests

from tests.attacks import (
    Attack,
    Target,
    attacked,
    closed_but_held,
    half_open_head,
    idle,
    p99,
    unfinished_body,
    unread_response,
    waits_of_others,
)
from tests.callers import callers, get
from tests.faults_report import Report
from tests.nginx import nginx, running_nginx
from tests.outages import Outages, is_our_refusal, service_with_own_servers
from wallet_api.database import connect
from wallet_api.keys import create_key

# The table of the report has the figures; a test fails only where others wait much longer.
MOST_SECONDS = 1.5
MEASURE_SECONDS = 5.0
WALLETS = 24_000
LARGE = "/v1/wallets?blockchain=solana&type=whale"
HISTORY = "blockchain=solana&type=whale&address=" + "1".rjust(44, "A")
PATHS = ["/healthz", "/docs", "/v1/wallet/leaderboard?blockchain=solana&type=whale&period=7d"]

ATTACKS = [
    pytest.param(None, 0, "none", id="none"),
    pytest.param(half_open_head, 32, "32 heads that do not end", id="half-open heads"),
    pytest.param(unread_response, 32, "32 responses of 9 MB that are not taken", id="unread responses"),
    pytest.param(closed_but_held, 32, "32 connections that the caller does not close", id="held connections"),
    pytest.param(idle, 2_100, "2,100 idle connections", id="idle connections"),
    pytest.param(unfinished_body, 32, "32 bodies that do not end", id="unfinished bodies"),
]


@pytest.fixture(scope="module")
def outages() -> Iterator[Outages]:
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-attacks-") as home,
        service_with_own_servers(Path(home), proxy_hops=1, leaderboard_ttl_seconds=3600.0) as outages,
    ):
        with connect(str(outages.settings.database_url)) as connection:
            connection.execute(
                "INSERT INTO wallets (blockchain, type, address, name, image_url, twitter, telegram,"
                " copytrade_link) SELECT 'solana', 'whale', lpad(i::text, 44, 'A'), repeat('n', 60),"
                " repeat('i', 60), '', '', '' FROM generate_series(1, %s) AS i",
                [WALLETS],
            )
        yield outages


@pytest.fixture(scope="module")
def proxied(outages: Outages) -> Iterator[Target]:
    if nginx() is None:
        pytest.skip("needs nginx: apt-get install nginx")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-api-nginx-"))
        # Others come from one address here, as many of them as this machine lets.
        changes = {"rate=100r/s": "rate=100000r/s", "burst=200": "burst=100000"}
        proxy = stack.enter_context(running_nginx(Path(folder), [outages.gunicorn.url], changes))
        yield Target(proxy.url, proxy.certificate, outages.key, LARGE)


@pytest.mark.parametrize(("attack", "connections", "words"), ATTACKS)
def test_others_are_answered_during_an_attack(
    attack: Attack | None,
    connections: int,
    words: str,
    proxied: Target,
    report: Report,
) -> None:
    with ExitStack() as stack:
        if attack is not None:
            stack.enter_context(attacked(proxied, attack, connections))
        waits = waits_of_others(proxied, PATHS, MEASURE_SECONDS)
    report.attack(words, waits)
    assert p99(waits) < MOST_SECONDS


def test_slow_questions_leave_threads_and_connections_to_others(
    outages: Outages, proxied: Target, report: Report
) -> None:
    paid = replace(proxied, key=outages.limited_key)
    with connect(str(outages.settings.database_url)) as connection:
        unknown = replace(proxied, key=create_key(connection, "unknown"))
    options = {"headers": outages.headers, "verify": str(proxied.certificate)}
    histories = [f"{proxied.url}/v1/wallets/history?{HISTORY}&limit={limit}" for limit in range(1, 17)]
    waits_of_others(paid, PATHS, 0.5)
    with ExitStack() as stack:
        connection = stack.enter_context(connect(str(outages.settings.database_url)))
        stack.enter_context(connection.transaction())
        connection.execute("LOCK TABLE trades IN ACCESS EXCLUSIVE MODE")
        slow = [stack.enter_context(callers(get(history, **options), 1, 0.05)) for history in histories]
        waits = waits_of_others(paid, PATHS, MEASURE_SECONDS)
        looked_up = waits_of_others(unknown, PATHS, 0.5)
    report.attack("16 histories while `trades` is locked", waits)
    assert p99(waits + looked_up) < MOST_SECONDS
    refusals = list(chain.from_iterable(met.refusals for met in slow))
    assert refusals
    assert all(is_our_refusal(refusal) for refusal in refusals)
    assert any("Too many slow requests" in refusal.text for refusal in refusals)
    answer = requests.get(histories[0], timeout=20, **options)
    assert answer.status_code == 200


def test_callers_of_a_leaderboard_that_hangs_leave_threads_to_others(
    outages: Outages, proxied: Target, report: Report
) -> None:
    options = {"headers": outages.headers, "verify": str(proxied.certificate)}
    # The period that no other test asks for.
    board = f"{proxied.url}/v1/wallet/leaderboard?blockchain=solana&type=whale&period=30d"
    waits_of_others(proxied, PATHS, 0.5)
    with ExitStack() as stack:
        connection = stack.enter_context(connect(str(outages.settings.database_url)))
        stack.enter_context(connection.transaction())
        connection.execute("LOCK TABLE trades IN ACCESS EXCLUSIVE MODE")
        met = stack.enter_context(callers(get(board, **options), 80, 0.05))
        waits = waits_of_others(proxied, PATHS, MEASURE_SECONDS)
    report.attack("80 callers of one leaderboard while `trades` is locked", waits)
    assert p99(waits) < MOST_SECONDS
    assert not met.failures
    assert met.statuses[503] > 80
    assert all(is_our_refusal(refusal) for refusal in met.refusals)
