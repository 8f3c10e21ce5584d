"""The figures of a small ledger, as tests/ledger/example.py works them out by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.ledger.caller import Caller
from tests.ledger.example import U, V, W, fill, trades
from tests.ledger.in_process import Row
from tests.ledger.rows import GROUP
from tests.lib.serving import Shared

D = Decimal


@pytest.fixture(scope="module")
def caller(shared: Shared) -> Caller:
    """A caller of a service with the example."""
    fill(shared.url)
    return shared.caller


def test_history_of_the_example_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    data = caller.get("/wallets/history", **GROUP, address=W)
    assert data["lifetime_stats"] == {
        "currency": "SOL",
        "native_price_usd": 160,
        "native_price_at": data["lifetime_stats"]["native_price_at"],
        "buy": D("9.9"),  # 2 + 4 + 0.4 + 1.5 + 0 + 2
        "buy_usd": 1430,  # 220 + 300 + 50 + 0 + 300, and BETA and DELTA at the latest price: 3.5 * 160
        "sell": D("20.6"),  # 2.5 + 8.9 + 4 + 1.5 + 0.7 + 3
        "sell_usd": 2740,  # 260 + 1000 + 530 + 70 + 480, and 2.5 * 160
        "realized_pnl": D("8.236111111"),  # 29/18 + 4.925 + 0 + 0 + 0.7 + 1 = 593/72
        # no realized_pnl_usd: the first buy of BETA has no dollar value
        "realized_pnl_percentage": D("93.9778"),  # cost 8/9 + 3.975 + 0.4 + 1.5 + 0 + 2 = 631/72; 593/631
        "sold_without_cost": D("3.6"),  # GAMMA: 3 for 50 that came in without a buy, and 3/5 of 1
        "fees": 0,
        "fees_unknown_txn": 17,  # no row states an exchanged_value
        "buy_txn": 8,
        "sell_txn": 9,
        "total_tx_count": 17,
        "win_rate": 50,
        "win_count": 2,  # EPSILON, ZETA
        "total_sold": 4,  # all but ALPHA and BETA
        "sold_count": 6,
        "sold_win_count": 4,  # ALPHA, BETA, EPSILON, ZETA
        "sold_win_rate": D("66.6667"),
        "active_tokens_count": 6,
        "largest_buy": 2,
        "best_trade_pnl": D("5.925"),
        "worst_trade_pnl": -1,
        "still_holding_count": 2,
        "unrealized_pnl": D("2.888888889"),  # ALPHA at the price of its last sell: 2 * 2 - 10/9 = 26/9
        "unrealized_pnl_usd": D("462.2222"),  # at the latest price, 160
        "priced_tokens_count": 1,
        "open_cost": D("1.136111111"),  # ALPHA 10/9, BETA 0.025
        "open_cost_usd": D("128.1944"),  # ALPHA 2/3 of 560/3, BETA 1/80 of 300
        "unpriced_cost": D("0.025"),  # nobody traded BETA for a day
        "unpriced_cost_usd": D("3.75"),
    }
    assert data["win_rate_distribution"] == {
        "above_500": 1,  # EPSILON, at no cost
        "above_100_to_500": 0,
        "above_zero_to_100": 1,  # ZETA
        "below_zero": 2,  # GAMMA and DELTA, at exactly 0
    }
    names = (
        *("invested", "sold", "realized_pnl", "realized_pnl_percentage", "tokens_sold_without_cost"),
        "still_holding",
    )
    assert {
        token["mint"].rstrip("z").upper(): tuple(token[name] for name in names)
        for token in data["token_overview"]
    } == {
        "ALPHA": (2, D("2.5"), D("1.611111111"), D("181.25"), 0, True),
        "BETA": (4, D("8.9"), D("4.925"), D("123.8994"), 0, True),
        "GAMMA": (D("0.4"), 4, 0, 0, 53, False),
        "DELTA": (D("1.5"), D("1.5"), 0, 0, 0, False),
        "EPSILON": (0, D("0.7"), D("0.7"), 0, 0, False),
        "ZETA": (2, 3, 1, 50, 0, False),
    }
    assert {
        token["mint"].rstrip("z").upper(): (token["open_cost"], token.get("avg_cost"))
        for token in data["token_overview"]
    } == {
        "ALPHA": (D("1.111111111"), D("0.555555555555555556")),
        "BETA": (D("0.025"), D("0.5")),
        **dict.fromkeys(["GAMMA", "DELTA", "EPSILON", "ZETA"], (0, None)),
    }
    dollars = ("invested_usd", "sold_usd", "realized_pnl_usd", "unrealized_pnl_usd", "open_cost_usd")
    expected = {
        "ALPHA": (220, 260, D("164.4444"), D("462.2222"), D("124.4444")),  # 80/3 + 1240/9; 26/9 * 160
        "BETA": (620, 1160, None, None, D("3.75")),  # 2 * 160 + 300, 160 + 1000
        "GAMMA": (50, 530, 2, 0, 0),
        "DELTA": (240, 240, None, 0, 0),
        "EPSILON": (0, 70, 70, 0, 0),
        "ZETA": (300, 480, 180, 0, 0),
    }
    tracked = caller.get("/wallets/tracker", blockchain="solana", address=W, period="all")
    for token in data["token_overview"]:
        assert tuple(map(token.get, dollars)) == expected[token["mint"].rstrip("z").upper()], token
    names = ("buy_value_usd", "sell_value_usd", *dollars[2:])
    for token in tracked["period_history_tokens"]:
        assert tuple(map(token.get, names)) == expected[token["mint"].rstrip("z").upper()], token
    costs = ("open_cost", "open_cost_usd", "unpriced_cost", "unpriced_cost_usd")
    for name in costs:
        assert tracked["period_stats"][name] == data["lifetime_stats"][name]


SALES = {
    # of the sells that are covered: what they realized, in dollars, and the cost of what they sold
    "a2": (D("0.166666667"), D("26.6667"), D("0.333333333")),  # $ 60 - 100/3
    "a4": (D("1.444444444"), D("137.7778"), D("0.555555556")),
    "b2": (-1, None, 2),
    "b4": (D("5.925"), D("703.75"), D("1.975")),  # $ 1000 - 300 * 3.95/4
    "c3": (0, 2, D("0.4")),
    "d2": (0, None, D("1.5")),
    "e2": (D("0.7"), 70, 0),
    "z2": (1, 180, 2),  # $ 480 - 300
}


def test_what_each_sell_of_the_example_made_is_shown_beside_it(caller: Caller) -> None:
    names = ("realized_pnl", "realized_pnl_usd", "cost")
    for rows in (
        caller.get("/wallets/history", **GROUP, address=W)["trades"],
        caller.get("/transactions/latest", **GROUP, after="start")["transactions"],
    ):
        assert {row["tx_signature"] for row in rows} >= SALES.keys()
        for row in rows:
            made = SALES.get(row["tx_signature"], (None, None, None))
            known = {name: figure for name, figure in zip(names, made, strict=True) if figure is not None}
            assert {name: row[name] for name in names if name in row} == known, row


def test_leaderboard_of_the_example_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    def entries(period: str) -> list[Row]:
        data = caller.get("/wallet/leaderboard", **GROUP, period=period)
        board: list[Row] = data["leaderboard"]
        return board

    # Of as much volume, the earlier address.
    assert [entry["wallet"] for entry in entries("6h")] == [V, U, W]
    # The only cost is 0: unweighted.
    assert entries("6h")[2]["period_stats"]["avg_hold_time_minutes"] == 120
    one, second, _ = entries("7d")
    assert (one["wallet"], one["period_stats"]["total_volume_usd"]) == (V, 28 * 160)
    assert second["wallet"] == W
    assert second["period_stats"] == {
        "realized_pnl": D("8.069444444"),  # 13/9 + 5.925 + 0 + 0 + 0.7
        # no realized_pnl_usd: DELTA has no dollar value
        "realized_pnl_percentage": D("182.1317"),  # 1162/144 of 638/144
        "sold_without_cost": D("3.6"),
        "fees": 0,
        "fees_unknown_txn": 10,
        "buy_txn": 4,
        "sell_txn": 6,
        "total_txn": 10,
        "total_buy": D("2.9"),
        "total_buy_usd": 410,  # 120 + 50, and DELTA: 1.5 * 160
        "total_sell": D("16.1"),  # 1162/144 + 638/144 + 3.6
        "total_sell_usd": 2040,  # 200 + 1000 + 400 + 130 + 70, and DELTA: 1.5 * 160
        "total_volume": 19,  # 1 + 2 + 7.9 + 3 + 0.4 + 1 + 1.5 + 1.5 + 0 + 0.7
        "total_volume_usd": 2450,  # 120 + 200 + 1000 + 400 + 50 + 130 + 0 + 70, and DELTA: 3 * 160
        "best_trade_pnl": D("5.925"),
        # (5/9 * 14.5 + 1.975 * 6 + 0.4 * 1 + 1.5/24) d / (5/9 + 1.975 + 0.4 + 1.5)
        # = (2933/144) / (638/144) d = 2933/638 * 1440 min = 6619.9373...
        "avg_hold_time_minutes": D("6619.94"),
        "open_cost": D("1.136111111"),  # of today, as in the history
        "open_cost_usd": D("128.1944"),  # ALPHA 2/3 of 560/3, BETA 1/80 of 300
        # 3 of 5: (3/5 + z²/10 - z √(6/125 + z²/100)) / (1 + z²/5)
        "win_rate_low": D("23.0724"),
        # no profit_factor: no token lost
        "pnl_without_best_token": D("2.144444444"),  # without the 5.925 of BETA
        "max_drawdown": 0,
        "fast_share": 0,
        "active_days": len({at.date() for at in _times_of_w(days=7)}),
    }
    (whole,) = (entry["period_stats"] for entry in entries("all") if entry["wallet"] == W)
    assert whole["max_drawdown"] == 1  # it began with BETA's loss
    assert whole["pnl_without_best_token"] == D("3.311111111")  # 593/72 - 4.925: BETA has the loss too
    assert whole["active_days"] == len({at.date() for at in _times_of_w(days=99)})
    assert second["period_win_rate_distribution"] == {
        "win_rate_percentage": 60,
        "above_500": 1,
        "above_100_to_500": 2,  # BETA: 5.925 on 1.975 is 300 %
        "above_zero_to_100": 0,
        "below_zero": 2,
        "closed_count": 5,
        "win_count": 3,
    }


def _times_of_w(days: int) -> list[datetime]:
    """Return the times of W's trades in the last days."""
    now = datetime.now(UTC)
    rows = trades(lambda **ago: (now - timedelta(**ago)).isoformat())
    times = [datetime.fromisoformat(row["created_at"]) for row in rows if row["wallet_address"] == W]
    return [at for at in times if at > now - timedelta(days=days)]


def test_dollars_of_the_example_are_what_was_reckoned_by_hand(caller: Caller) -> None:
    data = caller.get("/analytics", **GROUP, mode="net_flow", period="1d")
    flows = {token["mint"].rstrip("z").upper(): token["windows"]["1d"] for token in data["net_flows"]}
    names = ("buy_usd", "sell_usd", "net_flow_usd")
    assert {mint: tuple(flow[name] for name in names) for mint, flow in flows.items()} == {
        "ALPHA": (0, 200, -200),
        "EPSILON": (0, 70, -70),
        "ETA": (4592, 0, 4592),  # 28.7 * 160
    }
    buckets = caller.get("/analytics", **GROUP, mode="volume_trend", period="30d")["buckets"]
    # What W bought, without 320 of BETA 40 days ago, and ETA; what it sold, without 160 of BETA 35 days ago.
    assert sum(bucket["buy_usd"] for bucket in buckets) == 1430 - 320 + 4592
    assert sum(bucket["sell_usd"] for bucket in buckets) == 2740 - 160
    months = caller.get("/wallet/pnl_calendar", blockchain="solana", address=W)["months"]
    assert sum(month["month"]["volume_usd"] for month in months) == 1430 + 2740
    [signal] = caller.get("/signals", **GROUP, mode="cluster", min_wallets="2")["signals"]
    stats = signal["token_stats"]
    assert (stats["total_buy_usd"], stats["total_sell_usd"], stats["net_flow_usd"]) == (4592, 0, 4592)
    assert stats["price_usd"] == D("149.333333333333333333")  # 28/30 * 160
