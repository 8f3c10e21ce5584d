"""GET /v1/wallet/leaderboard: its order, and one computation for all who wait."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, BEN, GROUP, trade_row
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


def test_one_board_is_sorted_by_each_figure_and_ranks_follow(caller: Caller, importer: Importer) -> None:
    importer.trades([*sold(ANN, "9", "1"), *sold(BEN, "1", "3", value_usd="1"), trade(ANN, 3)])

    def ranked(**arguments: Any) -> list[tuple[str, int]]:
        data = caller.get(PATH, **QUESTION, **arguments)
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
