"""GET /v1/wallet/leaderboard: the entry of one wallet, and one computation for all who wait.

Figures, orders and filters are in test_figures.py.
"""

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
    # A period ends with a whole second.
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=hours)
    return trade_row(address, f"s{hours}", at, value=value, **fields)


@pytest.fixture
def two_ranked(importer: Importer) -> None:
    """Ann sold for 3 what cost 1; Ben for 2 what cost 4, and as much without a buy."""
    importer.trades(
        [
            *(trade(ANN, 2, "1"), trade(ANN, 1, "3", transaction_type="sell")),
            *(trade(BEN, 2, "4"), trade(BEN, 1, "2", transaction_type="sell")),
            trade(BEN, 0, "2", mint=mint_of("given"), transaction_type="sell"),
        ]
    )


@pytest.mark.usefixtures("two_ranked")
def test_a_chart_ends_with_the_profit_of_its_entry_at_the_time_of_the_board(caller: Caller) -> None:
    question = QUESTION | {"period": "30d", "sort": "realized_pnl", "limit": 100}
    plain = caller.get(PATH, **question)["leaderboard"]
    data = caller.get(PATH, **question, chart="true")
    entries = data["leaderboard"]
    assert [{name: entry[name] for name in entry if name != "chart"} for entry in entries] == plain
    today = datetime.now(UTC).date()
    for entry, profit in zip(entries, (2, -2), strict=True):
        chart = entry["chart"]
        assert chart["step_seconds"] == 86_400
        assert datetime.fromisoformat(chart["ends_at"]).date() == today
        assert (len(chart["values"]), chart["values"][0], chart["values"][-1]) == (31, 0, profit)
    second = caller.get(PATH, **question | {"limit": 1}, chart="true")
    cursor = second["pagination"]["next_cursor"]
    (last,) = caller.get(PATH, **question, chart="true", cursor=cursor)["leaderboard"]
    assert last == entries[1]


@pytest.mark.usefixtures("two_ranked")
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
def test_a_wallet_without_a_trade_has_no_entry_and_an_untracked_one_is_404(caller: Caller) -> None:
    assert caller.get(PATH, **QUESTION, address=ANN)["leaderboard"] == []
    for address in (UNTRACKED, SMART):
        error = caller.refused(PATH, **QUESTION, address=address)
        assert (error["code"], error["reason"]) == ("not_found", "wallet_not_found")
    assert caller.refused(PATH, **QUESTION, address=EVM)["parameter"] == "address"


# Of fewer threads, these callers could not wait at once.
@pytest.mark.settings(web_threads=16, leaderboard_ttl_seconds=3600)
def test_concurrent_requests_wait_for_one_computation(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade(ANN, 1)])
    started = threading.Barrier(8)

    def sent(number: int) -> Row:
        started.wait()
        return caller.get(PATH, **QUESTION)

    # Slow, and another one each time: two makings would differ.
    connection.execute(
        "CREATE OR REPLACE FUNCTION percentage(part numeric, whole numeric) RETURNS numeric "
        "LANGUAGE sql VOLATILE AS $$ SELECT extract(epoch FROM clock_timestamp()) FROM pg_sleep(0.3) $$"
    )
    with ThreadPoolExecutor(8) as pool:
        (data,) = {str(data) for data in pool.map(sent, range(8))}
    assert "win_rate_percentage" in data


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)
def test_a_wallet_that_was_read_for_a_part_of_the_period_is_named(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    importer.trades(trade_row(wallet, wallet, now - timedelta(hours=1)) for wallet in (ANN, BEN))
    read_since = now - timedelta(days=3)
    connection.execute(
        "INSERT INTO sync_wallets (wallet_id, synced_from, tried_at)"
        " SELECT wallet_id, %s, now() FROM wallets WHERE address = %s",
        [read_since, ANN],
    )
    for period, is_partly_read in (("1d", False), ("7d", True), ("30d", True), ("all", True)):
        entries = caller.get("/wallet/leaderboard", **GROUP, period=period)["leaderboard"]
        found = {entry["wallet"]: entry.get("history_since") for entry in entries}
        assert found == {ANN: f"{read_since:%Y-%m-%dT%H:%M:%SZ}" if is_partly_read else None, BEN: None}
