"""Every figure of a small ledger, as tests/ledger/example.py works it out by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.example import WALLETS, At, U, V, W, prices, trades
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from wallet_api.database import Connection

D = Decimal


@pytest.fixture(scope="module")
def now() -> datetime:
    """The time to which all others are relative."""
    return datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def at(now: datetime) -> At:
    """Tells a time before `now`: at(days=2)."""
    return lambda **ago: (now - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def caller(client: FlaskClient, connection: Connection, database_url: str, at: At) -> Caller:
    """A caller of a service that holds the example."""
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    importer.prices(prices(at))
    importer.trades(trades(at))
    return Caller.new(client, connection)


def test_history_of_the_example_is_what_was_reckoned_by_hand(caller: Caller, at: At) -> None:
    data = caller.get("/wallets/history", blockchain="solana", type="kol", address=W)
    assert data["profile"] == {
        "wallet_address": W,
        "name": "Wanda",
        "image_url": "https://images.example/wanda.png",
        "twitter": "https://x.com/wanda",
        "telegram": "https://t.me/wanda",
        "blockchain": "solana",
        "type": "kol",
        "currency": "SOL",
    }
    assert data["lifetime_stats"] == {
        "currency": "SOL",
        "buy": D("9.9"),  # 2 + 4 + 0.4 + 1.5 + 0 + 2
        "sell": D("20.6"),  # 2.5 + 8.9 + 4 + 1.5 + 0.7 + 3
        "realized_pnl": D("8.236111111"),  # 29/18 + 4.925 + 0 + 0 + 0.7 + 1 = 593/72
        "realized_pnl_percentage": D("93.9778"),  # cost 8/9 + 3.975 + 0.4 + 1.5 + 0 + 2 = 631/72; 593/631
        "sold_without_cost": D("3.6"),  # GAMMA: 3 for 50 that came in without a buy, and 3/5 of 1
        "buy_txn": 8,
        "sell_txn": 9,
        "total_tx_count": 17,
        "win_rate": 60,
        "win_count": 3,  # BETA, EPSILON, ZETA
        "total_sold": 5,  # all but ALPHA
        "active_tokens_count": 6,
        "largest_buy": 2,
        "best_trade_pnl": D("5.925"),
        "worst_trade_pnl": -1,
        "still_holding_count": 1,
        "unrealized_pnl": D("2.888888889"),  # ALPHA at the price of its last sell: 2 * 2 - 10/9 = 26/9
        "unrealized_pnl_usd": D("462.2222"),  # at the latest price, 160
        "priced_tokens_count": 1,
    }
    assert data["win_rate_distribution"] == {
        "above_500": 1,  # EPSILON, at no cost
        "above_100_to_500": 1,  # BETA
        "above_zero_to_100": 1,  # ZETA
        "below_zero": 2,  # GAMMA and DELTA, at exactly 0
    }
    common = ("EPSILON", "ALPHA", "GAMMA", "BETA", "DELTA", "ZETA")
    assert [token["mint"] for token in data["token_overview"]] == [mint_of(mint) for mint in common]
    assert {_name(token): _figures(token) for token in data["token_overview"]} == {
        # invested, sold, realized, in percent; sold without cost, and tokens; buys, sells; held
        "ALPHA": (2, D("2.5"), D("1.611111111"), D("181.25"), 0, 0, 2, 2, True),
        "BETA": (4, D("8.9"), D("4.925"), D("123.8994"), 0, 0, 2, 2, False),
        "GAMMA": (D("0.4"), 4, 0, 0, D("3.6"), 53, 1, 2, False),
        "DELTA": (D("1.5"), D("1.5"), 0, 0, 0, 0, 1, 1, False),
        "EPSILON": (0, D("0.7"), D("0.7"), 0, 0, 0, 1, 1, False),
        "ZETA": (2, 3, 1, 50, 0, 0, 1, 1, False),
    }
    assert {_name(token): (token["first_seen"], token["last_seen"]) for token in data["token_overview"]} == {
        "ALPHA": (at(days=20), at(hours=12)),
        "BETA": (at(days=40), at(days=2)),
        "GAMMA": (at(days=3), at(days=1.5)),
        "DELTA": (at(days=6), at(days=6, hours=-1)),
        "EPSILON": (at(hours=4), at(hours=2)),
        "ZETA": (at(days=25), at(days=24)),
    }
    assert {token["currency"] for token in data["token_overview"]} == {"SOL"}
    assert {_name(token): token["token_name"] for token in data["token_overview"]} == {
        mint: mint.capitalize() if mint == "ALPHA" else "" for mint in common
    }
    assert data["trades"][:3] == [
        _trade("e2", "EPSILON", "", "sell", 7, D("0.7"), 70, at(hours=2)),
        _trade("e1", "EPSILON", "", "buy", 7, 0, 0, at(hours=4)),
        _trade("a4", "ALPHA", "Alpha", "sell", 1, 2, 200, at(hours=12)),
    ]
    assert len(data["trades"]) == 17
    assert data["pagination"] == {"limit": 50, "next_cursor": None, "has_more": False}


def test_leaderboard_of_six_hours_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    vera, second, third = _leaderboard(caller, "6h")
    assert vera == _vera()
    # As much volume as W, and an earlier address.
    assert second == _uma(rank=2)
    assert third == _wanda(
        rank=3,
        period_stats={
            "realized_pnl": D("0.7"),
            "realized_pnl_usd": 70,
            "sold_without_cost": 0,
            "buy_txn": 1,
            "sell_txn": 1,
            "total_txn": 2,
            "total_volume": D("0.7"),
            "total_volume_usd": 70,
            "avg_hold_time_minutes": 120,  # the only cost is 0: unweighted
        },
        wins=(100, 1, 0, 0, 0, 1, 1),
    )


def test_leaderboard_of_a_week_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    _, second, _ = _leaderboard(caller, "7d")
    assert second == _wanda(
        rank=2,
        period_stats={
            "realized_pnl": D("8.069444444"),  # 13/9 + 5.925 + 0 + 0 + 0.7
            # no realized_pnl_usd: DELTA has no dollar value
            "sold_without_cost": D("3.6"),
            "buy_txn": 4,
            "sell_txn": 6,
            "total_txn": 10,
            "total_volume": 19,  # 1 + 2 + 7.9 + 3 + 0.4 + 1 + 1.5 + 1.5 + 0 + 0.7
            "total_volume_usd": 2450,  # 120 + 200 + 1000 + 400 + 50 + 130 + 0 + 70, and DELTA: 3 * 160
            # (5/9 * 14.5 + 1.975 * 6 + 0.4 * 1 + 1.5/24) d / (5/9 + 1.975 + 0.4 + 1.5)
            # = (2933/144) / (638/144) d = 2933/638 * 1440 min = 6619.9373...
            "avg_hold_time_minutes": D("6619.94"),
        },
        wins=(60, 1, 2, 0, 2, 5, 3),  # BETA: 5.925 on 1.975 is 300 %
    )


def test_volumes_of_the_example_are_what_was_reckoned_by_hand(caller: Caller) -> None:
    # W's 0 + 0.7 + 2, V's 28, U's 0.7; dollars 0 + 70 + 200 + 28.7 * 160
    assert _volume(caller, 24) == (D("31.4"), 4862)
    assert _volume(caller, 3) == (D("28.7"), 4550)
    assert _volume(caller, 24, "EPSILON") == (D("0.7"), 70)
    assert _volume(caller, 24, "ALPHA") == (2, 200)
    assert _volume(caller, 24, "BETA") == (0, 0)


def _volume(caller: Caller, hours: int, mint: str | None = None) -> tuple[Any, Any]:
    data = caller.get(
        "/transactions/volume", blockchain="solana", type="kol", hours=hours, mint=mint and mint_of(mint)
    )
    totals = (data.pop("volume"), data.pop("volume_usd"))
    assert data == {
        "blockchain": "solana",
        "type": "kol",
        "mode": "volume",
        "currency": "SOL",
        "time_window_seconds": hours * 3600,
    } | ({} if mint is None else {"mint": mint_of(mint)})
    return totals


def _figures(token: Row) -> tuple[Any, ...]:
    names = (
        "invested",
        "sold",
        "realized_pnl",
        "realized_pnl_percentage",
        "sold_without_cost",
        "tokens_sold_without_cost",
        "buy_txn",
        "sell_txn",
        "still_holding",
    )
    return tuple(token[name] for name in names)


def _name(token: Row) -> str:
    return str(token["mint"]).rstrip("z").upper()


def _trade(
    signature: str, mint: str, name: str, side: str, amount: int, value: Decimal | int, usd: int, when: str
) -> Row:
    return {
        "tx_signature": signature,
        "mint": mint_of(mint),
        "symbol": None,
        "token_name": name,
        "transaction_type": side,
        "value": value,
        "value_usd": usd,
        "currency": "SOL",
        "token_amount": amount,
        "created_at": when,
        "event_index": 0,
    }


def _leaderboard(caller: Caller, period: str) -> list[Row]:
    data = caller.get("/wallet/leaderboard", blockchain="solana", type="kol", period=period)
    entries: list[Row] = data.pop("leaderboard")
    assert data == {"blockchain": "solana", "type": "kol", "period": period, "currency": "SOL"}
    return entries


def _wanda(rank: int, period_stats: Row, wins: tuple[Any, ...]) -> Row:
    profile = {"image_url": "https://images.example/wanda.png", "twitter": "https://x.com/wanda"}
    return _entry(W, "Wanda", rank, period_stats, wins, **profile)


def _vera() -> Row:
    return _entry(V, "Vera", 1, _one_buy(D(28), D(4480)), (0, 0, 0, 0, 0, 0, 0))


def _uma(rank: int) -> Row:
    return _entry(U, "", rank, _one_buy(D("0.7"), D(112)), (0, 0, 0, 0, 0, 0, 0))


def _one_buy(volume: Decimal, usd: Decimal) -> Row:
    return {
        "realized_pnl": 0,
        "realized_pnl_usd": 0,
        "sold_without_cost": 0,
        "buy_txn": 1,
        "sell_txn": 0,
        "total_txn": 1,
        "total_volume": volume,
        "total_volume_usd": usd,
        # no avg_hold_time_minutes: nothing was sold
    }


def _entry(
    wallet: str,
    name: str,
    rank: int,
    period_stats: Row,
    wins: tuple[Any, ...],
    image_url: str = "",
    twitter: str = "",
) -> Row:
    rate, above_500, above_100, above_zero, below, closed, won = wins
    return {
        "wallet": wallet,
        "rank": rank,
        "profile": {"name": name, "image_url": image_url, "twitter": twitter, "currency": "SOL"},
        "period_stats": period_stats,
        "period_win_rate_distribution": {
            "win_rate_percentage": rate,
            "above_500": above_500,
            "above_100_to_500": above_100,
            "above_zero_to_100": above_zero,
            "below_zero": below,
            "closed_count": closed,
            "win_count": won,
        },
    }
