"""GET /v1/wallet/leaderboard: who is in it, and how it is kept and shared for a while."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row, leaderboard
from wallet_api.database import Connection
from wallet_api.settings import Settings

FIRST = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
SECOND = "So11111111111111111111111111111111111111112"
GROUP = {"blockchain": "solana", "type": "kol"}
QUESTION = GROUP | {"period": "1d"}
PATH = "/wallet/leaderboard"


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in, for two wallets of a group."""
    importer = Importer(database_url)
    importer.wallets([GROUP | {"wallet_address": address} for address in (FIRST, SECOND)])
    return importer


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """Asks for leaderboards."""
    return Caller.new(client, connection)


def trade(address: str, at: datetime, value: str = "1", **fields: Any) -> Row:
    """A buy."""
    return {
        "blockchain": "solana",
        "wallet_address": address,
        "tx_signature": f"s{at.timestamp()}",
        "mint": "mint",
        "transaction_type": "buy",
        "token_amount": "1",
        "value": value,
        "created_at": at.isoformat(),
        **fields,
    }


def test_without_trades_in_the_period_the_leaderboard_is_empty(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(FIRST, datetime.now(UTC) - timedelta(days=2))])
    assert caller.get(PATH, **QUESTION) == QUESTION | {"currency": "SOL", "leaderboard": []}
    assert caller.get(PATH, **QUESTION, limit=5)["pagination"] == {
        "limit": 5,
        "next_cursor": None,
        "has_more": False,
    }


def test_a_period_begins_after_its_first_instant_and_ends_with_its_last(
    importer: Importer, connection: Connection
) -> None:
    now = datetime.now(UTC)
    for period, length in (("6h", 6), ("1d", 24), ("7d", 168), ("30d", 720)):
        begin, tick = now - timedelta(hours=length), timedelta(microseconds=1)
        importer.trades(
            [
                trade(FIRST, begin, tx_signature=f"{period} too early"),
                trade(SECOND, begin + tick, tx_signature=f"{period} first"),
                trade(SECOND, now, tx_signature="last"),
                trade(FIRST, now + tick, tx_signature="too late"),
            ]
        )
        ranked = leaderboard(connection, now, "solana", "kol", period)
        counts = {entry["wallet"]: entry["period_stats"]["total_txn"] for entry in ranked}
        # Those of the shorter periods, and two of this.
        shorter = ("6h", "1d", "7d", "30d").index(period)
        assert counts.get(SECOND) == 2 + shorter
        assert counts.get(FIRST, 0) == shorter


def test_both_paths_are_one_operation(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(FIRST, datetime.now(UTC) - timedelta(hours=1))])
    assert caller.get("/wallets/leaderboard", **QUESTION) == caller.get(PATH, **QUESTION)


@pytest.fixture
def aging(
    settings: Settings, connection: Connection, make_app: Callable[[Settings], Flask]
) -> Callable[[float], Caller]:
    """Makes callers of services that keep a leaderboard for so many seconds."""

    def make(seconds: float) -> Caller:
        own = replace(settings, leaderboard_ttl_seconds=seconds)
        return Caller.new(make_app(own).test_client(), connection)

    return make


def test_a_kept_leaderboard_says_so_and_how_old_it_is(
    aging: Callable[[float], Caller], importer: Importer
) -> None:
    caller = aging(3600)
    importer.trades([trade(FIRST, datetime.now(UTC) - timedelta(hours=1))])
    first = caller.ask(PATH, **QUESTION)
    assert (first["meta"]["cached"], first["meta"]["cache_age_seconds"]) == (False, 0)
    importer.trades([trade(SECOND, datetime.now(UTC) - timedelta(hours=1))])
    second = caller.ask(PATH, **QUESTION)
    assert second["meta"]["cached"] is True
    assert 0 <= second["meta"]["cache_age_seconds"] < 60
    assert second["data"] == first["data"]
    # Another period is another leaderboard.
    assert len(caller.get(PATH, **GROUP, period="7d")["leaderboard"]) == 2


def test_a_leaderboard_that_may_not_be_kept_is_always_of_now(
    aging: Callable[[float], Caller], importer: Importer
) -> None:
    caller = aging(0)
    for number, address in enumerate((FIRST, SECOND), 1):
        importer.trades([trade(address, datetime.now(UTC) - timedelta(hours=1))])
        assert len(caller.get(PATH, **QUESTION)["leaderboard"]) == number


def test_callers_at_once_wait_for_one_making(
    aging: Callable[[float], Caller], importer: Importer, connection: Connection, database_url: str
) -> None:
    importer.trades([trade(FIRST, datetime.now(UTC) - timedelta(hours=1))])
    caller = aging(3600)
    started = threading.Barrier(8)

    def ask(number: int) -> Row:
        started.wait()
        return caller.ask(PATH, **QUESTION)

    # Slow, and another one each time: two makings could not tell the same.
    connection.execute(
        "CREATE OR REPLACE FUNCTION percentage(part numeric, whole numeric) RETURNS numeric "
        "LANGUAGE sql VOLATILE AS $$ SELECT extract(epoch FROM clock_timestamp()) FROM pg_sleep(0.3) $$"
    )
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(8)))
    assert {document["success"] for document in told} == {True}
    (data,) = {str(document["data"]) for document in told}
    assert "win_rate_percentage" in data
