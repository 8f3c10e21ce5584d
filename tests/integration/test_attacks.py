"""Attacks on the service behind nginx: others are answered all the same."""

import resource
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.lib.attacks import (
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
from tests.lib.faults_report import Report
from tests.lib.folders import server_folder
from tests.lib.nginx import nginx, running_nginx
from tests.lib.outages import Outages, service_with_own_servers
from wallet_api.database import connect

# The table of the report has the figures; a test fails only where others wait much longer.
MOST_SECONDS = 1.5
MEASURE_SECONDS = 2.0
WALLETS = 24_000
LARGE = "/v1/wallets?blockchain=solana&type=whale"
PATHS = ["/healthz", "/docs", "/v1/wallet/leaderboard?blockchain=solana&type=whale&period=7d"]

ATTACKS = [
    pytest.param(None, 0, "none", id="none"),
    pytest.param(half_open_head, 32, "32 heads that do not end", id="half-open heads"),
    pytest.param(unread_response, 32, "32 responses of 9 MB that are not taken", id="unread responses"),
    pytest.param(closed_but_held, 32, "32 connections that the caller does not close", id="held connections"),
    pytest.param(idle, 2_100, "2,100 idle connections", id="idle connections"),
    pytest.param(unfinished_body, 32, "32 bodies that do not end", id="unfinished bodies"),
]


@pytest.fixture(scope="module", autouse=True)
def many_files() -> Iterator[None]:
    """Let these tests and their servers open more files than an ordinary user does at first."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture(scope="module")
def outages(many_files: None) -> Iterator[Outages]:
    with (
        server_folder() as home,
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
