"""A closed app: no thread, no connection and no charge is left."""

import threading
from dataclasses import replace

from flask import Flask

from tests.demo_service import demo_service
from wallet_api.app import create_app
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}


def _use(app: Flask, key: str, address: str) -> None:
    client = app.test_client()
    for path, arguments in (
        *[("/v1/wallets", GROUP)] * 30,
        ("/v1/wallet/leaderboard", GROUP | {"period": "7d"}),
        ("/v1/wallets/holdings", {"blockchain": "solana", "address": address}),
    ):
        answer = client.get(path, query_string=arguments, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text


def _connections(connection: Connection) -> int:
    row = connection.execute(
        "SELECT count(*) AS open FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'wallet-api'"
    ).fetchone()
    return int(row["open"]) if row else 0


def test_a_closed_app_leaves_no_thread_no_connection_and_no_charge(
    settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "busy", credits=100_000, rate="100000/minute")
    with demo_service(settings) as service:
        before = set(threading.enumerate())
        app = create_app(service.settings)
        _use(app, key, service.wallet("solana", "kol"))
        started = {thread.name for thread in set(threading.enumerate()) - before}
        assert {"credits", "limits", "keys"} <= started
        assert _connections(connection) > 0
        app.extensions["wallet_api"].close()
        left = {thread.name for thread in set(threading.enumerate()) - before}
        # The stand-in provider answers in threads of its own.
        assert not {name for name in left if "process_request" not in name}, left
    credits = connection.execute("SELECT credits FROM api_keys WHERE name = 'busy'").fetchone()
    assert credits == {"credits": 100_000 - 32}
    assert _connections(connection) == 0


def test_a_closed_app_waits_no_more_for_a_store_that_is_away(
    settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller")
    before = set(threading.enumerate())
    app = create_app(replace(settings, valkey_url="valkey://127.0.0.1:9"))
    headers = {"Authorization": f"Bearer {key}"}
    assert app.test_client().get("/v1/wallets", query_string=GROUP, headers=headers).status_code == 200
    assert "limits" in {thread.name for thread in set(threading.enumerate()) - before}
    app.extensions["wallet_api"].close()
    left = set(threading.enumerate()) - before
    for thread in left:
        thread.join(timeout=5)
    assert not [thread.name for thread in left if thread.is_alive()]
