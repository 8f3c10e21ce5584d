"""Analytics: boards and trends as modes, and which arguments a mode has.

Figures are in test_figures.py.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import GROUP

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

HOUR = timedelta(hours=1)


def test_the_best_wallets_are_the_entries_of_the_leaderboard_and_what_is_left_out_is_counted(
    caller: Caller, database_url: str
) -> None:
    random_trades.import_all(
        Importer(database_url),
        wallets=random_trades.wallets(9),
        trades=random_trades.trades(300, 9, datetime.now(UTC) - HOUR, days=9),
    )
    for mode, rows, shown, sort in (
        ("most_traded", "tokens", "first 1 of {} tokens", None),
        ("net_flow", "net_flows", "first 1 of {} tokens", None),
        ("volume_trend", "buckets", "newest 1 of {} buckets", None),
        ("top_performers", "leaderboard", "first 1 of {} wallets", "realized_pnl"),
        ("win_rate", "leaderboard", "first 1 of {} wallets", "win_rate"),
    ):
        whole = caller.get("/analytics", **GROUP, mode=mode, limit=1000)
        assert whole["total"] == len(whole[rows]) > 1, mode
        assert "warnings" not in whole
        if sort:
            board = caller.get("/wallet/leaderboard", **GROUP, period="7d", sort=sort)["leaderboard"]
            assert whole[rows] == board
        cut = caller.get("/analytics", **GROUP, mode=mode, limit=1)
        kept = whole[rows][-1:] if mode == "volume_trend" else whole[rows][:1]
        assert (cut["total"], cut[rows]) == (whole["total"], kept)
        assert cut["warnings"] == [f"Only the {shown.format(whole['total'])} are shown."]
    flows = [caller.get("/analytics", **GROUP, mode="net_flow", min_wallets=least) for least in (1, 3)]
    assert flows[0]["total"] > flows[1]["total"]
    capped = caller.get("/analytics", **GROUP, mode="win_rate", limit=1001)
    assert capped["warnings"] == ["limit was capped from 1001 to 1000."]


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
