"""The demo data in a ledger: complete, continued, with balances, and apart from own data."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pytest
from click.testing import Result
from flask import Flask

from tests.ledger.in_process import Importer
from tests.lib.demo_service import DemoService
from tests.lib.processes import run_command
from wallet_api.database import Connection, connect
from wallet_api.operate.demo.loading import keep_current, load_demo
from wallet_api.operate.demo.world import World
from wallet_api.settings import Settings

NOW = datetime.now(UTC).replace(microsecond=0)
OWN_WALLET = {"blockchain": "eth", "type": "kol", "wallet_address": "0x" + 40 * "a"}
OWN_PRICE = {"currency": "SOL", "usd": "150", "priced_at": "2026-01-01T00:00:00Z"}


def small(now: datetime = NOW) -> World:
    return World(now, wallets=50, trades=5_000, days=6)


def run_demo(database_url: str, *arguments: str) -> Result:
    return run_command("demo", *arguments, settings=Settings(database_url=database_url))


def trades(connection: Connection) -> list[dict[str, Any]]:
    return connection.execute("SELECT * FROM trades ORDER BY created_at, tx_signature, token_id").fetchall()


def test_the_command_imports_a_world_of_the_requested_size(database_url: str, connection: Connection) -> None:
    done = run_demo(database_url, "--wallets", "10", "--trades", "3000", "--days", "2", "--seed", "3")
    assert done.exit_code == 0
    assert "10 wallets, 3,000 trades" in done.stdout
    counts = connection.execute(
        "SELECT count(*) AS trades, count(DISTINCT wallet_id) AS wallets,"
        " max(created_at) - min(created_at) <= interval '2 days' AS in_time FROM trades"
    ).fetchone()
    assert counts == {"trades": 3_000, "wallets": 10, "in_time": True}
    # Not back to a time before all chains.
    assert run_demo(database_url, "--days", "3651").exit_code == 2


def test_all_rows_are_accepted_and_all_dollars_known(database_url: str, connection: Connection) -> None:
    # A rejected row would end the import.
    loaded = load_demo(database_url, small())
    assert (loaded["wallets"], loaded["trades"]) == (50, 5_000)
    counts = connection.execute(
        "SELECT count(*) AS trades, count(*) FILTER (WHERE usd_derived) > 300 AS derived,"
        " count(*) FILTER (WHERE value_usd IS NULL) AS unknown FROM trades"
    ).fetchone()
    assert counts == {"trades": 5_000, "derived": True, "unknown": 0}
    tokens = connection.execute(
        "SELECT count(*) AS tokens, count(symbol) AS symbols, count(supply) AS supplies"
        " FROM tokens LEFT JOIN token_faces USING (token_id)"
    ).fetchone()
    assert tokens["tokens"] == tokens["symbols"] == tokens["supplies"] > 50


def test_a_later_import_adds_trades_and_changes_none(database_url: str, connection: Connection) -> None:
    load_demo(database_url, small(NOW - timedelta(days=1)))
    before = trades(connection)
    load_demo(database_url, small(NOW - timedelta(days=1)))
    assert trades(connection) == before
    load_demo(database_url, small(), after=before[-1]["created_at"])
    after = trades(connection)
    assert after[: len(before)] == before
    assert len(after) > len(before) + 500
    assert after[-1]["created_at"] > NOW - timedelta(hours=1)


@pytest.mark.parametrize("own", ["wallet", "price"])
def test_own_data_is_not_touched(database_url: str, connection: Connection, own: str) -> None:
    importer = Importer(database_url)
    if own == "wallet":
        load_demo(database_url, small(NOW - timedelta(days=1)))
        importer.wallets([OWN_WALLET])
    else:
        importer.prices([OWN_PRICE])
    tables = ("wallets", "trades", "native_prices")
    count = " UNION ALL ".join(f"SELECT count(*) AS n FROM {table}" for table in tables)
    before = connection.execute(count.encode()).fetchall()
    done = run_demo(database_url, "--wallets", "10", "--trades", "100")
    assert done.exit_code == 1
    assert "has data of yours" in done.stderr
    keep_current(database_url)
    assert connection.execute(count.encode()).fetchall() == before


def test_a_world_of_other_options_is_not_mixed_with_the_default_one(
    database_url: str, connection: Connection
) -> None:
    load_demo(database_url, small(NOW - timedelta(days=1)))
    before = trades(connection)
    keep_current(database_url)
    assert trades(connection) == before


def test_holdings_of_demo_wallets_are_what_their_trades_left(
    demo: DemoService, make_app: Callable[[Settings], Flask]
) -> None:
    client = make_app(demo.settings).test_client()
    with connect(str(demo.settings.database_url)) as connection:
        for wallet in demo.wallets:
            query = {"blockchain": wallet["blockchain"], "address": wallet["wallet_address"]}
            reply = client.get("/v1/wallets/holdings", query_string=query, headers=demo.headers)
            assert reply.status_code == 200, reply.text
            holdings = (reply.json or {})["data"]["active_holdings"]
            native, *tokens = holdings["tokens"]
            assert (holdings["loading"], native["token_address"]) == (False, "native")
            held = connection.execute(
                "SELECT mint, token_name, quantity FROM positions JOIN wallets USING (wallet_id)"
                " WHERE quantity > 0 AND blockchain = %(blockchain)s AND address = %(address)s",
                query,
            ).fetchall()
            with localcontext(prec=80):
                assert {
                    (token["token_address"], token["token_name"], Decimal(token["amount_formatted"]))
                    for token in tokens
                } == {tuple(row.values()) for row in held}
