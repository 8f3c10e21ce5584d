"""Analytics: boards and trends as modes, and which arguments a mode has.

Figures are in test_figures.py.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import GROUP, trade_row

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


@pytest.mark.parametrize("days", [0, 2])
def test_of_more_tokens_than_are_shown_those_of_most_wallets_and_the_largest_volume_are(
    caller: Caller, database_url: str, days: int
) -> None:
    wallets = [wallet for wallet in random_trades.wallets(30) if wallet.items() >= GROUP.items()][:2]
    first, second = (wallet["wallet_address"] for wallet in wallets)
    mints = [mint_of(f"token {number}") for number in range(1003)]
    at = datetime.now(UTC) - days * timedelta(days=1) - timedelta(minutes=1)

    def bought(address: str, number: int) -> dict[str, Any]:
        return trade_row(address, f"{address} {number}", at, mint=mints[number]) | {"value": f"{number + 1}"}

    importer = Importer(database_url)
    importer.wallets(wallets)
    importer.trades(
        [*(bought(first, number) for number in range(1003)), bought(second, 0), bought(second, 1)]
    )

    most = caller.get("/analytics", **GROUP, mode="most_traded", limit=1000)

    # Those of both wallets come first, then the others, each by their volume.
    order = [1, 0, *range(1002, 4, -1)]
    assert [token["mint"] for token in most["tokens"]] == [mints[number] for number in order]
    assert [token["wallet_count"] for token in most["tokens"][:3]] == [2, 2, 1]
    assert [token["volume"] for token in most["tokens"][:3]] == [4, 2, 1003]
    assert most["total"] == 1003


def test_buckets_of_a_trend_end_at_multiples_of_their_length_and_with_the_period(caller: Caller) -> None:
    for period, minutes, count in (("6h", 5, 72), ("1d", 15, 96), ("7d", 120, 84), ("30d", 360, 120)):
        trend = GROUP | {"mode": "volume_trend", "period": period}
        document = caller.document("/analytics", **trend)
        ends = [datetime.fromisoformat(bucket["timestamp"]) for bucket in document["data"]["buckets"]]
        until = datetime.fromisoformat(document["meta"]["until"]).replace(microsecond=0)
        step, epoch = timedelta(minutes=minutes), datetime(1970, 1, 1, tzinfo=UTC)
        newest = epoch + (until - epoch) // step * step
        multiples = [newest - step * number for number in reversed(range(count))]
        assert ends == [*(end for end in multiples if end < until), until]
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
