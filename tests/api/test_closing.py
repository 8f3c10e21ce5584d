"""A closed app: no thread, no connection and no charge is left."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask

from tests.ledger.caller import Caller
from tests.lib.demo_service import demo_service
from tests.lib.waiting import eventually
from wallet_api.app import create_app
from wallet_api.database import Connection
from wallet_api.settings import Settings


@contextmanager
def running(settings: Settings, started: set[str]) -> Iterator[Flask]:
    """Run an app, which has started these threads at the end of the block and leaves none of them."""
    before = set(threading.enumerate())
    app = create_app(settings)
    yield app
    own = set(threading.enumerate()) - before
    assert started <= {thread.name for thread in own}
    app.extensions["wallet_api"].close()
    for thread in own:
        # Threads of the provider that respond are not of the app.
        if "process_request" not in thread.name:
            thread.join(timeout=60)
            assert not thread.is_alive(), thread.name


def _connections(connection: Connection) -> int:
    row = connection.execute(
        "SELECT count(*) AS open FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'wallet-api'"
    ).fetchone()
    return int(row["open"]) if row else 0


@pytest.mark.settings(leaderboard_ttl_seconds=0.5)
def test_a_closed_app_leaves_no_thread_no_connection_and_no_charge(
    settings: Settings, connection: Connection
) -> None:
    with (
        demo_service(settings) as service,
        running(service.settings, {"credits", "limits", "keys", "board_0"}) as app,
    ):
        caller = Caller.new(app.test_client(), connection, "busy", credits=100_000)
        wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
        assert caller.statuses(30) == [200] * 30
        other = Caller.new(app.test_client(), connection)

        def a_board_is_refreshed() -> bool:
            other.get("/wallet/leaderboard", blockchain="solana", type="kol", period="7d")
            return any(thread.name == "board_0" for thread in threading.enumerate())

        assert eventually(a_board_is_refreshed, pause_seconds=0.001)
        caller.get("/wallets/holdings", **wallet)
        assert _connections(connection) > 0
    credits = connection.execute("SELECT credits FROM api_keys WHERE name = 'busy'").fetchone()
    assert credits == {"credits": 100_000 - 31}
    assert _connections(connection) == 0


def test_a_closed_app_waits_no_more_for_a_store_that_is_away(
    settings: Settings, connection: Connection
) -> None:
    with running(replace(settings, valkey_url="valkey://127.0.0.1:9"), {"limits"}) as app:
        Caller.new(app.test_client(), connection).get("/wallets", blockchain="solana", type="kol")
