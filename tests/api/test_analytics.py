"""Analytics: the modes beside the most traded tokens, their arguments, and what they add up to."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, UNTRACKED, trade_row
from wallet_api.database import Connection
from wallet_api.queries.net_flow import net_flows
from wallet_api.queries.volume_trend import volume_trend

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

FLOWS = GROUP | {"mode": "net_flow"}
HOUR = timedelta(hours=1)


def test_flows_add_up_to_the_feed_of_their_window(database_url: str, connection: Connection) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    ledger = random_trades.import_all(
        Importer(database_url),
        wallets=random_trades.wallets(9),
        trades=random_trades.trades(900, 9, now, days=8),
    )
    for name, seconds in (("1h", 3600), ("6h", 6 * 3600), ("1d", 86_400), ("7d", 7 * 86_400)):
        rows = net_flows(connection, now, "solana", "kol", name, 1000)
        feed = ledger.timerange(now, "solana", "kol", seconds)
        flows = [row["windows"][name] for row in rows]
        assert len(rows) == len({trade["mint"] for trade in feed})
        assert feed
        for side in ("buy", "sell"):
            assert sum(flow[side] for flow in flows) == sum(
                trade["value"] for trade in feed if trade["transaction_type"] == side
            )
        assert sum(flow["net_flow"] for flow in flows) == sum(flow["buy"] - flow["sell"] for flow in flows)


def test_a_wallet_is_new_in_the_window_of_its_first_buy(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    importer.wallets([GROUP | {"wallet_address": UNTRACKED}])
    importer.trades(
        [
            trade_row(ANN, "a", now - 3 * HOUR),
            trade_row(ANN, "b", now - HOUR / 2),
            trade_row(BEN, "c", now - 30 * HOUR, transaction_type="sell"),
            trade_row(SMART, "d", now - HOUR / 2),
            trade_row(UNTRACKED, "e", now - 8 * HOUR),
            trade_row(UNTRACKED, "f", now - HOUR / 2),
        ]
    )
    (token,) = caller.get("/analytics", **FLOWS)["net_flows"]
    counted = ("buyers", "sellers", "new_wallets", "wallet_count")
    assert {name: [flow[count] for count in counted] for name, flow in token["windows"].items()} == {
        "1h": [2, 0, 0, 2],
        "6h": [2, 0, 1, 2],
        "1d": [2, 0, 2, 2],
        "7d": [2, 1, 2, 3],
    }


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


def test_a_trend_has_all_buckets_and_each_trade_in_the_one_it_ends(
    caller: Caller, importer: Importer
) -> None:
    now = datetime.now(UTC) - timedelta(minutes=1)
    importer.trades(
        [trade_row(ANN, "a", now - 10 * timedelta(minutes=1), value="3"), trade_row(BEN, "b", now)]
    )
    for period, count in (("6h", 72), ("1d", 96), ("7d", 84), ("30d", 120)):
        trend = GROUP | {"mode": "volume_trend", "period": period}
        buckets = caller.get("/analytics", **trend)["buckets"]
        assert len(buckets) == count
        times = [bucket["timestamp"] for bucket in buckets]
        assert times == sorted(set(times))
        assert sum(bucket["volume"] for bucket in buckets) == Decimal(4)
        assert sum(bucket["txn"] for bucket in buckets) == 2
        assert len(caller.get("/analytics", **trend, limit=2)["buckets"]) == 2


def test_a_trade_belongs_to_the_bucket_that_it_ends(importer: Importer, connection: Connection) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    since, bucket = now - 6 * HOUR, timedelta(minutes=5)
    importer.trades(
        trade_row(ANN, f"{number}", at)
        for number, at in enumerate((since, since + bucket, since + bucket + timedelta(seconds=1), now))
    )
    buckets = volume_trend(connection, now, "solana", "kol", "6h")
    assert [number for number, found in enumerate(buckets, 1) for _ in range(found["txn"])] == [1, 2, 72]
    assert buckets[0]["timestamp"] == (since + bucket).strftime("%Y-%m-%dT%H:%M:%SZ")


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


def test_an_argument_of_another_mode_is_refused(caller: Caller) -> None:
    for name, value in (("sort", "buy"), ("order", "asc"), ("min_wallets", 1)):
        for mode in ("most_traded", "volume_trend", "top_performers"):
            error = caller.refused("/analytics", **GROUP, mode=mode, **{name: value})
            assert (error["code"], error["parameter"]) == ("invalid_parameter", name)
            assert error["message"] == f"Parameter {name} is of the mode net_flow alone."
    for mode, period, allowed in (
        ("net_flow", "30d", ["1h", "6h", "1d", "7d"]),
        ("volume_trend", "1h", ["6h", "1d", "7d", "30d"]),
    ):
        error = caller.refused("/analytics", **GROUP, mode=mode, period=period)
        assert (error["parameter"], error["allowed"]) == ("period", allowed)
