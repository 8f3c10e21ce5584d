"""Analytics: the order of flows, boards and trends as modes, and which arguments a mode has.

Figures are in test_figures.py.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

FLOWS = GROUP | {"mode": "net_flow"}
HOUR = timedelta(hours=1)


def test_flows_are_sorted_by_their_size_or_as_requested(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    sides = {"in": ("buy", "5"), "out": ("sell", "7"), "small": ("buy", "1")}
    importer.trades(
        trade_row(ANN, name, now - 2 * HOUR, mint=mint_of(name), transaction_type=side, value=value)
        for name, (side, value) in sides.items()
    )
    importer.trades([trade_row(BEN, "b", now - 2 * HOUR, mint=mint_of("small"), value="1")])

    def found(**arguments: object) -> list[Row]:
        rows = caller.get("/analytics", **FLOWS, **arguments)["net_flows"]
        names = {mint_of(name): name for name in sides}
        return [names[row["mint"]] for row in rows]

    assert found() == ["out", "in", "small"]
    assert found(order="asc") == ["small", "in", "out"]
    assert found(sort="net_flow") == ["in", "small", "out"]
    assert found(sort="net_flow", order="asc") == ["out", "small", "in"]
    assert found(sort="buyers")[0] == "small"
    assert found(min_wallets=2) == ["small"]
    assert found(limit=1) == ["out"]
    # Nothing was traded in the last hour.
    assert found(period="1h") == []


def test_a_flow_begins_after_the_first_moment_of_its_window(caller: Caller, importer: Importer) -> None:
    lengths = {"1h": HOUR, "6h": 6 * HOUR, "1d": 24 * HOUR, "7d": 168 * HOUR}
    began = datetime.now(UTC).replace(microsecond=0)
    # In each second that may be the start of a window while this test runs, and in the one before.
    times = [
        began - length + timedelta(seconds=second) for length in lengths.values() for second in range(-1, 60)
    ]
    trades = [(mint_of(name), at) for at in times for name in ("all", at.isoformat())]
    importer.trades(trade_row(ANN, mint + str(at), at, mint=mint) for mint, at in trades)
    for period in lengths:
        now, rows = within_a_second(
            lambda period=period: caller.get("/analytics", **FLOWS, period=period, limit=1000)["net_flows"]
        )
        bought = {
            name: Counter(mint for mint, at in trades if now - length < at <= now)
            for name, length in lengths.items()
        }
        assert {row["mint"] for row in rows} == bought[period].keys()
        for row in rows:
            counts = {name: flow["buy"] for name, flow in row["windows"].items()}
            assert counts == {name: mints[row["mint"]] for name, mints in bought.items()}


def within_a_second(get: Callable[[], list[Row]]) -> tuple[datetime, list[Row]]:
    """Return rows, and the whole second of the clock in which they were read."""
    while True:
        now, rows = datetime.now(UTC).replace(microsecond=0), get()
        if datetime.now(UTC).replace(microsecond=0) == now:
            return now, rows


def test_the_best_wallets_are_the_entries_of_the_leaderboard(caller: Caller, database_url: str) -> None:
    random_trades.import_all(
        Importer(database_url),
        wallets=random_trades.wallets(9),
        trades=random_trades.trades(300, 9, datetime.now(UTC) - HOUR, days=9),
    )
    for mode, sort in (("top_performers", "realized_pnl"), ("win_rate", "win_rate")):
        board = caller.get("/wallet/leaderboard", **GROUP, period="7d", sort=sort)["leaderboard"]
        best = caller.get("/analytics", **GROUP, mode=mode)
        assert best["leaderboard"] == board
        assert len(board) > 1
        assert caller.get("/analytics", **GROUP, mode=mode, limit=1)["leaderboard"] == board[:1]


def test_a_trend_has_all_buckets_of_its_period_or_the_newest(caller: Caller) -> None:
    for period, count in (("6h", 72), ("1d", 96), ("7d", 84), ("30d", 120)):
        trend = GROUP | {"mode": "volume_trend", "period": period}
        assert len(caller.get("/analytics", **trend)["buckets"]) == count
        first, second = caller.get("/analytics", **trend, limit=2)["buckets"]
        assert first["timestamp"] < second["timestamp"]


def test_an_argument_of_another_mode_is_refused(caller: Caller) -> None:
    for name, value in (("sort", "buy"), ("order", "asc"), ("min_wallets", 1)):
        for mode in ("most_traded", "volume_trend", "top_performers"):
            error = caller.refused("/analytics", **GROUP, mode=mode, **{name: value})
            assert (error["code"], error["parameter"]) == ("invalid_parameter", name)
            assert error["message"] == f"Parameter {name} is of the mode net_flow alone."
    for mode, period, allowed in (
        ("net_flow", "30d", ["1h", "6h", "1d", "7d"]),
        ("volume_trend", "1h", ["6h", "1d", "7d", "30d"]),
        ("volume_trend", "90d", ["6h", "1d", "7d", "30d"]),
    ):
        error = caller.refused("/analytics", **GROUP, mode=mode, period=period)
        assert (error["parameter"], error["allowed"]) == ("period", allowed)
