"""Cached data: which requests share it and for how long, and what a 304 costs."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.api.conftest import NewCaller
from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, trade_row

NORMAL, LONG = "answer_ttl_seconds", "leaderboard_ttl_seconds"
CACHED = pytest.mark.settings(answer_ttl_seconds=60.0, leaderboard_ttl_seconds=60.0)
OWN = {"blockchain": "solana", "address": ANN}
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}
# By operation: the setting that says how long its data is cached, or None for a second at most.
LIFETIMES: dict[str, tuple[Row, str | None]] = {
    "/wallets": (GROUP, LONG),
    "/wallets/lookup": ({"address": ANN}, NORMAL),
    "/wallets/history": (OWN | {"type": "kol"}, NORMAL),
    "/wallets/tracker": (OWN, LONG),
    "/wallet/pnl_calendar": (OWN, NORMAL),
    "/wallets/connections": (OWN, LONG),
    "/wallet/leaderboard": (GROUP | {"period": "7d"}, LONG),
    "/analytics": (GROUP | {"mode": "most_traded"}, LONG),
    "/signals": (GROUP | {"mode": "entry"}, LONG),
    "/transactions/volume": (GROUP, NORMAL),
    "/transactions/count": (GROUP, NORMAL),
    "/transactions/latest": (GROUP, None),
    "/transactions/timerange": (GROUP, None),
    "/tokens/transactions": (TOKEN, None),
    "/tokens/stats": (TOKEN, NORMAL),
    "/tokens/holders": (TOKEN, NORMAL),
}


def change(importer: Importer, number: int) -> None:
    """Import what changes the data of every operation."""
    importer.wallets([GROUP | {"wallet_address": address, "name": f"{number}"} for address in (ANN, BEN)])
    importer.trades(
        trade_row(address, f"s{number}", datetime.now(UTC) - timedelta(minutes=9 - number))
        for address in (ANN, BEN)
    )


@pytest.mark.parametrize("cached", [NORMAL, LONG])
def test_each_operation_is_cached_as_long_as_its_setting_says(
    caller_of: NewCaller, importer: Importer, cached: str
) -> None:
    caller = caller_of(**{"answer_ttl_seconds": 0.0, "leaderboard_ttl_seconds": 0.0, cached: 3600.0})
    change(importer, 1)
    first = {path: caller.document(path, **question) for path, (question, _) in LIFETIMES.items()}
    change(importer, 2)
    time.sleep(1.1)
    for path, (question, setting) in LIFETIMES.items():
        again = caller.document(path, **question)
        assert (first[path]["meta"]["cached"], again["meta"]["cached"]) == (False, setting == cached), path
        assert (again["data"] == first[path]["data"]) is (setting == cached), path
        assert 0 <= again["meta"]["cache_age_seconds"] < 60


@pytest.mark.settings(answer_ttl_seconds=60.0, leaderboard_ttl_seconds=0.0)
def test_a_feed_is_shared_within_a_second(caller: Caller, importer: Importer) -> None:
    def is_shared() -> bool:
        caller.document("/transactions/latest", **GROUP)
        return bool(caller.document("/transactions/latest", **GROUP)["meta"]["cached"])

    # Of a busy machine it may take longer.
    assert any(is_shared() for _ in range(5))


@CACHED
def test_data_is_shared_by_equal_arguments_only(caller: Caller) -> None:
    caller.send()
    for path, cached in (
        # In another order, and with an empty argument.
        ("/wallets?type=kol&blockchain=solana&cursor=", True),
        (f"{LIST}&limit=3", False),
        ("/wallets?blockchain=eth&type=kol", False),
        ("/transactions/volume?blockchain=solana&type=kol", False),
    ):
        assert caller.document(path)["meta"]["cached"] is cached, path


@CACHED
def test_boards_flows_signals_and_trends_are_read_once_for_all_limits_and_orders(
    caller: Caller, importer: Importer
) -> None:
    change(importer, 1)
    for path in ("/wallet/leaderboard", "/analytics"):
        asked, _ = LIFETIMES[path]
        others: list[Row] = [{"limit": 1}, {"limit": 2}, {"period": "6h"}]
        cached = [caller.document(path, **asked | own)["meta"]["cached"] for own in others]
        assert cached == [False, True, False]
    moment = datetime.now(UTC) - timedelta(minutes=8)
    importer.trades([trade_row(ANN, "other", moment, mint=mint_of("other"))])
    question = GROUP | {"mode": "net_flow", "period": "7d"}
    every = caller.get("/analytics", **question)["net_flows"]
    assert len(every) == 2
    change(importer, 2)
    orders: list[Row] = [{"limit": 1}, {"limit": 3, "sort": "buyers"}, {"order": "asc"}, {"min_wallets": 2}]
    for own in orders:
        again = caller.document("/analytics", **question | own)
        assert again["meta"]["cached"] is True, own
        assert all(row in every for row in again["data"]["net_flows"])
    signals = GROUP | {"mode": "entry"}
    every = caller.get("/signals", **signals)["signals"]
    again = caller.document("/signals", **signals, limit=1)
    assert (again["meta"]["cached"], again["data"]["signals"], again["data"]["count"]) == (True, every[:1], 1)
    assert len(every) > 1
    trend = GROUP | {"mode": "volume_trend", "period": "30d"}
    every = caller.get("/analytics", **trend)["buckets"]
    again = caller.document("/analytics", **trend, limit=2)
    assert (again["meta"]["cached"], again["data"]["buckets"]) == (True, every[-2:])
