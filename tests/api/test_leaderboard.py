"""GET /v1/wallet/leaderboard: its wallets, and its caching."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import trade_row
from wallet_api.database import Connection
from wallet_api.queries.leaderboard import SORTS
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


def trade(address: str, at: datetime, value: str = "1", **fields: Any) -> Row:
    """A buy."""
    return trade_row(address, f"s{at.timestamp()}", at, value=value, **fields)


def test_without_trades_in_the_period_the_leaderboard_is_empty(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(FIRST, datetime.now(UTC) - timedelta(days=2))])
    assert caller.get(PATH, **QUESTION) == QUESTION | {"currency": "SOL", "leaderboard": []}
    assert caller.get(PATH, **QUESTION, limit=5)["pagination"] == {
        "limit": 5,
        "next_cursor": None,
        "has_more": False,
    }


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


def test_the_meta_of_a_cached_leaderboard_has_its_age(
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


def test_without_a_ttl_every_leaderboard_is_computed(
    aging: Callable[[float], Caller], importer: Importer
) -> None:
    caller = aging(0)
    for number, address in enumerate((FIRST, SECOND), 1):
        importer.trades([trade(address, datetime.now(UTC) - timedelta(hours=1))])
        assert len(caller.get(PATH, **QUESTION)["leaderboard"]) == number


# Of fewer threads, these callers could not wait at once.
@pytest.mark.settings(web_threads=16)
def test_concurrent_requests_wait_for_one_computation(
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


def _sold(address: str, now: datetime, bought: str, sold: str, **fields: Any) -> list[Row]:
    """A buy and a sell of all of it, an hour apart."""
    return [
        trade(address, now - timedelta(hours=2), bought, **fields),
        trade(address, now - timedelta(hours=1), sold, transaction_type="sell", **fields),
    ]


def test_one_board_is_sorted_by_each_figure_and_ranks_follow(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    importer.trades([*_sold(FIRST, now, "9", "1"), *_sold(SECOND, now, "1", "3", value_usd="1")])
    importer.trades([trade(FIRST, now - timedelta(hours=3))])

    def ranked(**arguments: Any) -> list[tuple[str, int]]:
        data = caller.get(PATH, **QUESTION, **arguments)
        for name in ("sort", "min_txn"):
            assert data.get(name) == arguments.get(name)
        return [(entry["wallet"], entry["rank"]) for entry in data["leaderboard"]]

    by_volume = [(FIRST, 1), (SECOND, 2)]
    by_profit = [(SECOND, 1), (FIRST, 2)]
    assert ranked() == ranked(sort="total_volume") == ranked(sort="total_txn") == by_volume
    # The first wallet's profit in dollars is unknown.
    for sort in ("realized_pnl", "realized_pnl_usd", "win_rate"):
        assert ranked(sort=sort) == by_profit
    assert ranked(min_txn=2) == by_volume
    # Ranks are among those that are left.
    assert ranked(min_txn=3, sort="realized_pnl") == [(FIRST, 1)]
    assert ranked(min_txn=4) == []


def test_a_cursor_belongs_to_its_order(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    importer.trades([*_sold(FIRST, now, "9", "1"), *_sold(SECOND, now, "1", "3")])
    cursor = caller.get(PATH, **QUESTION, limit=1)["pagination"]["next_cursor"]
    same = caller.get(PATH, **QUESTION, limit=1, sort="total_volume", cursor=cursor)
    assert [entry["wallet"] for entry in same["leaderboard"]] == [SECOND]
    for order in ({"sort": "realized_pnl"}, {"min_txn": 2}):
        error = caller.ask(PATH, **QUESTION, **order, limit=1, cursor=cursor)["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "cursor")


def test_pages_of_any_order_hold_every_wallet_once(caller: Caller, database_url: str) -> None:
    now, importer = datetime.now(UTC), Importer(database_url)
    importer.wallets(random_trades.wallets(30))
    importer.trades(random_trades.trades(200, 30, now, days=2))
    for sort in (None, *SORTS):
        for min_txn in (None, 3):
            question = QUESTION | {"sort": sort, "min_txn": min_txn}
            whole = caller.get(PATH, **question)["leaderboard"]
            assert [entry["rank"] for entry in whole] == list(range(1, len(whole) + 1))
            assert len(whole) > 4
            assert caller.pages(PATH, "leaderboard", **question, limit=3) == whole
