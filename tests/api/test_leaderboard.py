"""GET /v1/wallet/leaderboard: its order, and one computation for all who wait."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, EVM, GROUP, SMART, UNTRACKED, trade_row
from wallet_api.database import Connection

QUESTION = GROUP | {"period": "1d"}
PATH = "/wallet/leaderboard"


def trade(address: str, hours: int, value: str = "1", **fields: Any) -> Row:
    """A buy so many hours ago."""
    at = datetime.now(UTC) - timedelta(hours=hours)
    return trade_row(address, f"s{hours}", at, value=value, **fields)


def sold(address: str, bought: str, sold: str, **fields: Any) -> list[Row]:
    """A buy and a sell of all of it, an hour apart."""
    return [
        trade(address, 2, bought, **fields),
        trade(address, 1, sold, transaction_type="sell", **fields),
    ]


def test_a_wallet_that_traded_before_the_period_is_not_ranked(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(ANN, 48)])
    assert caller.get(PATH, **QUESTION) == QUESTION | {"currency": "SOL", "leaderboard": []}


@pytest.mark.parametrize("period", ["1d", "all"])
def test_one_board_is_sorted_by_each_figure_and_ranks_follow(
    caller: Caller, importer: Importer, period: str
) -> None:
    importer.trades([*sold(ANN, "9", "1"), *sold(BEN, "1", "3", value_usd="1"), trade(ANN, 3)])

    def ranked(**arguments: Any) -> list[tuple[str, int]]:
        data = caller.get(PATH, **QUESTION | {"period": period}, **arguments)
        for name in ("sort", "min_txn"):
            assert data.get(name) == arguments.get(name)
        return [(entry["wallet"], entry["rank"]) for entry in data["leaderboard"]]

    by_volume = [(ANN, 1), (BEN, 2)]
    by_profit = [(BEN, 1), (ANN, 2)]
    assert ranked() == ranked(sort="total_volume") == ranked(sort="total_txn") == by_volume
    # The first wallet's profit in dollars is unknown.
    for sort in ("realized_pnl", "realized_pnl_usd", "win_rate"):
        assert ranked(sort=sort) == by_profit
    assert ranked(min_txn=2) == by_volume
    # Ranks are among those that are left.
    assert ranked(min_txn=3, sort="realized_pnl") == [(ANN, 1)]
    assert ranked(min_txn=4) == []


@pytest.fixture
def three_ranked(importer: Importer) -> None:
    """Ann won 2 of 1 and held nothing, Ben lost, and sold as much without a buy; both in one token."""
    importer.trades(
        [
            *sold(ANN, "1", "3"),
            *sold(BEN, "4", "2"),
            trade(BEN, 0, "2", mint=mint_of("given"), transaction_type="sell"),
        ]
    )


def addresses(caller: Caller, **arguments: Any) -> list[str]:
    """The addresses of a board of all trades, in its order."""
    data = caller.get(PATH, **(GROUP | {"period": "all"} | arguments))
    assert [entry["rank"] for entry in data["leaderboard"]] == list(range(1, len(data["leaderboard"]) + 1))
    for name in arguments:
        assert str(data[name]) == arguments[name]
    return [entry["wallet"] for entry in data["leaderboard"]]


@pytest.mark.usefixtures("three_ranked")
def test_each_figure_sorts_in_both_orders_and_the_unknown_come_last(
    caller: Caller, importer: Importer
) -> None:
    for sort, first, second in (
        ("realized_pnl_percentage", ANN, BEN),
        ("total_buy", BEN, ANN),
        ("best_trade_pnl", ANN, BEN),
        ("sold_without_cost", BEN, ANN),
        # Of the same time, so by address.
        ("avg_hold_time_minutes", ANN, BEN),
    ):
        assert addresses(caller, sort=sort) == [first, second], sort
        back = [first, second] if sort == "avg_hold_time_minutes" else [second, first]
        assert addresses(caller, sort=sort, order="asc") == back, sort
    importer.trades([trade(SMART, 1), trade_row(SMART, "late", datetime.now(UTC), mint=mint_of("other"))])
    for order in ("asc", "desc"):
        assert addresses(caller, type="smart", sort="avg_hold_time_minutes", order=order) == [SMART]


@pytest.mark.usefixtures("three_ranked")
def test_filters_leave_out_wallets_by_the_figures_as_shown(caller: Caller) -> None:
    both = [BEN, ANN]
    assert addresses(caller) == both
    for name, kept, left_out, rest in (
        ("min_volume", "4", "4.000000001", [BEN]),
        ("min_closed", "1", "2", []),
        ("min_win_rate", "0", "0.5", [ANN]),
        ("min_txn", "2", "3", [BEN]),
    ):
        assert addresses(caller, **{name: kept}) == both, name
        assert addresses(caller, **{name: left_out}) == rest, name
    # Half of what the second one sold had no known buy.
    assert addresses(caller, max_without_cost="50") == both
    assert addresses(caller, max_without_cost="49.999") == addresses(caller, max_without_cost="0") == [ANN]
    assert addresses(caller, max_without_cost="0", min_volume="5") == []
    for name, wrong in (("min_volume", "-1"), ("max_without_cost", "1e3"), ("min_closed", "0")):
        error = caller.refused(PATH, **GROUP, period="all", **{name: wrong})
        assert (error["code"], error["parameter"]) == ("invalid_parameter", name)


@pytest.mark.usefixtures("three_ranked")
def test_one_wallet_is_returned_with_its_rank_among_all_that_are_not_left_out(caller: Caller) -> None:
    def rank(address: str, **arguments: Any) -> list[tuple[str, int]]:
        data = caller.get(PATH, **QUESTION, address=address, **arguments)
        assert data["address"] == address
        return [(entry["wallet"], entry["rank"]) for entry in data["leaderboard"]]

    assert rank(ANN) == [(ANN, 2)]
    assert rank(ANN, sort="realized_pnl") == rank(ANN, order="asc") == [(ANN, 1)]
    assert rank(BEN, sort="realized_pnl") == [(BEN, 2)]
    assert rank(ANN, min_txn=3) == []
    page = caller.get(PATH, **QUESTION, address=ANN, limit=1)
    assert page["pagination"] == {"limit": 1, "next_cursor": None, "has_more": False}


@pytest.mark.usefixtures("importer")
def test_an_address_without_a_trade_has_no_entry_and_an_untracked_one_is_not_found(caller: Caller) -> None:
    assert caller.get(PATH, **QUESTION, address=ANN)["leaderboard"] == []
    for address in (UNTRACKED, SMART):
        error = caller.refused(PATH, **QUESTION, address=address)
        assert (error["code"], error["reason"]) == ("not_found", "wallet_not_found")
    assert caller.refused(PATH, **QUESTION, address=EVM)["parameter"] == "address"


def test_periods_reach_as_far_back_as_they_say(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    for number, days in enumerate((0, 29, 31, 89, 91, 400)):
        importer.trades([trade_row(ANN, f"d{number}", now - timedelta(days=days, hours=1))])
    importer.trades([trade_row(ANN, "ahead", now + timedelta(minutes=3))])
    counts = {
        period: caller.get(PATH, **GROUP, period=period)["leaderboard"][0]["period_stats"]["total_txn"]
        for period in ("30d", "90d", "all")
    }
    assert counts == {"30d": 2, "90d": 4, "all": 7}


# Of fewer threads, these callers could not wait at once.
@pytest.mark.settings(web_threads=16, leaderboard_ttl_seconds=3600)
def test_concurrent_requests_wait_for_one_computation(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade(ANN, 1)])
    started = threading.Barrier(8)

    def ask(number: int) -> Row:
        started.wait()
        return caller.get(PATH, **QUESTION)

    # Slow, and another one each time: two makings could not tell the same.
    connection.execute(
        "CREATE OR REPLACE FUNCTION percentage(part numeric, whole numeric) RETURNS numeric "
        "LANGUAGE sql VOLATILE AS $$ SELECT extract(epoch FROM clock_timestamp()) FROM pg_sleep(0.3) $$"
    )
    with ThreadPoolExecutor(8) as pool:
        (data,) = {str(data) for data in pool.map(ask, range(8))}
    assert "win_rate_percentage" in data
