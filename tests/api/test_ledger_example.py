"""A small ledger worked out by hand: every figure that the service gives for it, with its reckoning.

Wallet W trades six tokens. Q, C and T are quantity, cost and average acquisition time after the trade.

ALPHA, partial sells, still held
  20 d ago   buy  3    for 1    $100        Q 3     C 1      T -20 d
  10 d ago   sell 1    for 0.5  $60         cost 1/3, realized 1/2 - 1/3 = 1/6, held 10 d
                                            Q 2     C 2/3            $ cost 200/3
   5 d ago   buy  1    for 1    $120        Q 3     C 5/3    T (-20*2 - 5*1)/3 = -15 d    $ cost 560/3
  12 h ago   sell 1    for 2    $200        cost 5/9, realized 13/9, held 14.5 d; $ 200 - 560/9 = 1240/9
                                            Q 2     C 10/9   held: 2 of at most 3
  invested 2, sold 2.5, realized 1/6 + 13/9 = 29/18, cost 1/3 + 5/9 = 8/9: 100 * (29/18)/(8/9) = 181.25 %

BETA, sold out, entered again, sold but for dust
  40 d ago   buy  10   for 2                Q 10    C 2      T -40 d
  35 d ago   sell 10   for 1                cost 2, realized -1, held 5 d; Q 0
   8 d ago   buy  4    for 2    $300        Q 4     C 2      T -8 d
   2 d ago   sell 3.95 for 7.9  $1000       cost 1.975, realized 5.925, held 6 d; Q 0.05: below 1 % of 10
  invested 4, sold 8.9, realized 4.925, cost 3.975: 4925/3975 = 197/159 = 123.8993... %

GAMMA, an airdrop sold, then a sell that is covered in part and comes out even
   3 d ago   sell 50   for 3    $400        not covered
  2.5 d ago  buy  2    for 0.4  $50         Q 2     C 0.4
  1.5 d ago  sell 5    for 1    $130        covers 2 of 5: 0.4 - 0.4 = 0, held 1 d; $ 52 - 50 = 2
  invested 0.4, sold 4, realized 0, cost 0.4: 0 %

DELTA, closed at break-even, its dollar value unknown
   6 d ago   buy  1    for 1.5
   6 d less an hour ago: sell 1 for 1.5     cost 1.5, realized 0, held 1 h

EPSILON, got for nothing and sold
   4 h ago   buy  7    for 0    $0
   2 h ago   sell 7    for 0.7  $70         cost 0, realized 0.7, held 2 h

ZETA, a plain profit of 50 %, its dollar value from the price of SOL
  25 d ago   buy  2    for 2                $150 half an hour before, $170 50 minutes after: 2 * 150
  24 d ago   sell 2    for 3                $160 59 minutes after: 3 * 160; realized 1, cost 2, held 1 d

Wallet V buys for 28, an hour ago, wallet U for 0.7, five hours ago; both without dollars, so they count at
the latest price, $160.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.door import Importer, Row
from wallet_api.database import Connection

U = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
V = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
W = "So11111111111111111111111111111111111111112"

D = Decimal
At = Callable[..., str]


@pytest.fixture(scope="module")
def now() -> datetime:
    """The time that all others are told from."""
    return datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def at(now: datetime) -> At:
    """Tells a time before `now`: at(days=2)."""
    return lambda **ago: (now - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def caller(client: FlaskClient, connection: Connection, database_url: str, at: At) -> Caller:
    """A caller of a service that holds the example."""
    importer = Importer(database_url)
    importer.wallets(
        [
            {"blockchain": "solana", "type": "kol", "wallet_address": U},
            {"blockchain": "solana", "type": "kol", "wallet_address": V, "name": "Vera"},
            {
                "blockchain": "solana",
                "type": "kol",
                "wallet_address": W,
                "name": "Wanda",
                "image_url": "https://images.example/wanda.png",
                "twitter": "https://x.com/wanda",
                "telegram": "https://t.me/wanda",
                "copytrade_link": "https://copy.example/wanda",
            },
        ]
    )
    importer.prices(
        [
            {"currency": "SOL", "usd": "150", "priced_at": at(days=25, minutes=30)},
            {"currency": "SOL", "usd": "170", "priced_at": at(days=25, minutes=-50)},
            {"currency": "SOL", "usd": "160", "priced_at": at(days=24, minutes=-59)},
            {"currency": "ETH", "usd": "3000", "priced_at": at(minutes=1)},
        ]
    )
    importer.trades(_trades(at))
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
    }
    assert data["win_rate_distribution"] == {
        "above_500": 1,  # EPSILON, at no cost
        "above_100_to_500": 1,  # BETA
        "above_zero_to_100": 1,  # ZETA
        "below_zero": 2,  # GAMMA and DELTA, at exactly 0
    }
    common = ("EPSILON", "ALPHA", "GAMMA", "BETA", "DELTA", "ZETA")
    assert [token["mint"] for token in data["token_overview"]] == list(common)
    assert {token["mint"]: _figures(token) for token in data["token_overview"]} == {
        # invested, sold, realized, in percent; buys, sells; held
        "ALPHA": (2, D("2.5"), D("1.611111111"), D("181.25"), 2, 2, True),
        "BETA": (4, D("8.9"), D("4.925"), D("123.8994"), 2, 2, False),
        "GAMMA": (D("0.4"), 4, 0, 0, 1, 2, False),
        "DELTA": (D("1.5"), D("1.5"), 0, 0, 1, 1, False),
        "EPSILON": (0, D("0.7"), D("0.7"), 0, 1, 1, False),
        "ZETA": (2, 3, 1, 50, 1, 1, False),
    }
    assert {token["mint"]: (token["first_seen"], token["last_seen"]) for token in data["token_overview"]} == {
        "ALPHA": (at(days=20), at(hours=12)),
        "BETA": (at(days=40), at(days=2)),
        "GAMMA": (at(days=3), at(days=1.5)),
        "DELTA": (at(days=6), at(days=6, hours=-1)),
        "EPSILON": (at(hours=4), at(hours=2)),
        "ZETA": (at(days=25), at(days=24)),
    }
    assert {token["currency"] for token in data["token_overview"]} == {"SOL"}
    assert {token["mint"]: token["token_name"] for token in data["token_overview"]} == {
        mint: mint.capitalize() if mint == "ALPHA" else "" for mint in common
    }
    assert data["trades"][:3] == [
        _trade("e2", "EPSILON", "", "sell", D("0.7"), at(hours=2)),
        _trade("e1", "EPSILON", "", "buy", 0, at(hours=4)),
        _trade("a4", "ALPHA", "Alpha", "sell", 2, at(hours=12)),
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
            "buy_txn": 1,
            "sell_txn": 1,
            "total_txn": 2,
            "total_volume": D("0.7"),
            "total_volume_usd": 70,
            "avg_hold_time_minutes": 120,  # the only cost is 0: unweighted
        },
        wins=(100, 1, 0, 0, 0, 1, 1),
    )


def test_leaderboard_of_a_day_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    vera, second, third = _leaderboard(caller, "1d")
    assert vera == _vera()
    assert second == _wanda(
        rank=2,
        period_stats={
            "realized_pnl": D("2.144444444"),  # 0.7 + 13/9
            "realized_pnl_usd": D("207.7778"),  # 70 + 1240/9
            "buy_txn": 1,
            "sell_txn": 2,
            "total_txn": 3,
            "total_volume": D("2.7"),
            "total_volume_usd": 270,
            "avg_hold_time_minutes": 20880,  # 14.5 d; EPSILON weighs nothing
        },
        wins=(100, 1, 1, 0, 0, 2, 2),  # ALPHA: 13/9 on 5/9 is 260 %
    )
    assert third == _uma(rank=3)


def test_leaderboard_of_a_week_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    _, second, _ = _leaderboard(caller, "7d")
    assert second == _wanda(
        rank=2,
        period_stats={
            "realized_pnl": D("8.069444444"),  # 13/9 + 5.925 + 0 + 0 + 0.7
            # no realized_pnl_usd: DELTA has no dollar value
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


def test_leaderboard_of_a_month_is_what_was_reckoned_by_hand(caller: Caller) -> None:
    vera, second, third = _leaderboard(caller, "30d")
    assert vera == _vera()
    assert second == _wanda(
        rank=2,
        period_stats={
            "realized_pnl": D("9.236111111"),  # the week's 8.06944... + 1/6 + 1; BETA's loss is too old
            "buy_txn": 7,
            "sell_txn": 8,
            "total_txn": 15,
            "total_volume": D("27.5"),  # 19 + 1 + 0.5 + 2 + 2 + 3
            "total_volume_usd": 3690,  # 2450 + 100 + 60 + 300 + 300 + 480
            # (2933 + 480 + 288)/144 d / ((638 + 48 + 288)/144) = 3701/974 * 1440 min = 5471.7043...
            "avg_hold_time_minutes": D("5471.7"),
        },
        wins=(D("66.6667"), 1, 2, 1, 2, 6, 4),  # ALPHA: 29/18 on 8/9 is 181.25 %
    )
    assert third == _uma(rank=3)


def test_volumes_of_the_example_are_what_was_reckoned_by_hand(caller: Caller) -> None:
    # W's 0 + 0.7 + 2, V's 28, U's 0.7; dollars 0 + 70 + 200 + 28.7 * 160
    assert _volume(caller, 24) == (D("31.4"), 4862)
    assert _volume(caller, 3) == (D("28.7"), 4550)
    assert _volume(caller, 24, "EPSILON") == (D("0.7"), 70)
    assert _volume(caller, 24, "ALPHA") == (2, 200)
    assert _volume(caller, 24, "BETA") == (0, 0)


def _volume(caller: Caller, hours: int, mint: str | None = None) -> tuple[Any, Any]:
    data = caller.get("/transactions/volume", blockchain="solana", type="kol", hours=hours, mint=mint)
    totals = (data.pop("volume"), data.pop("volume_usd"))
    assert data == {
        "blockchain": "solana",
        "type": "kol",
        "mode": "volume",
        "currency": "SOL",
        "time_window_seconds": hours * 3600,
    } | ({} if mint is None else {"mint": mint})
    return totals


def _trades(at: At) -> list[Row]:
    """The trades of the example; the later ones first, to make it harder."""
    rows = [
        _row(W, "a1", "ALPHA", "buy", "3", "1", at(days=20), "100", token_name="Alpha"),
        _row(W, "a2", "ALPHA", "sell", "1", "0.5", at(days=10), "60"),
        _row(W, "a3", "ALPHA", "buy", "1", "1", at(days=5), "120"),
        _row(W, "a4", "ALPHA", "sell", "1", "2", at(hours=12), "200"),
        _row(W, "b1", "BETA", "buy", "10", "2", at(days=40)),
        _row(W, "b2", "BETA", "sell", "10", "1", at(days=35)),
        _row(W, "b3", "BETA", "buy", "4", "2", at(days=8), "300"),
        _row(W, "b4", "BETA", "sell", "3.95", "7.9", at(days=2), "1000"),
        _row(W, "c1", "GAMMA", "sell", "50", "3", at(days=3), "400"),
        _row(W, "c2", "GAMMA", "buy", "2", "0.4", at(days=2.5), "50"),
        _row(W, "c3", "GAMMA", "sell", "5", "1", at(days=1.5), "130"),
        _row(W, "d1", "DELTA", "buy", "1", "1.5", at(days=6)),
        _row(W, "d2", "DELTA", "sell", "1", "1.5", at(days=6, hours=-1)),
        _row(W, "e1", "EPSILON", "buy", "7", "0", at(hours=4), "0"),
        _row(W, "e2", "EPSILON", "sell", "7", "0.7", at(hours=2), "70"),
        _row(W, "z1", "ZETA", "buy", "2", "2", at(days=25)),
        _row(W, "z2", "ZETA", "sell", "2", "3", at(days=24)),
        _row(V, "v1", "ETA", "buy", "30", "28", at(hours=1)),
        _row(U, "u1", "ETA", "buy", "1", "0.7", at(hours=5)),
    ]
    return rows[::-1]


def _row(
    wallet: str,
    signature: str,
    mint: str,
    side: str,
    amount: str,
    value: str,
    when: str,
    usd: str | None = None,
    **more: str,
) -> Row:
    return {
        "blockchain": "solana",
        "wallet_address": wallet,
        "tx_signature": signature,
        "mint": mint,
        "transaction_type": side,
        "token_amount": amount,
        "value": value,
        "value_usd": usd,
        "created_at": when,
        **more,
    }


def _figures(token: Row) -> tuple[Any, ...]:
    names = (
        "invested",
        "sold",
        "realized_pnl",
        "realized_pnl_percentage",
        "buy_txn",
        "sell_txn",
        "still_holding",
    )
    return tuple(token[name] for name in names)


def _trade(signature: str, mint: str, name: str, side: str, value: Decimal | int, when: str) -> Row:
    return {
        "tx_signature": signature,
        "mint": mint,
        "token_name": name,
        "transaction_type": side,
        "value": value,
        "currency": "SOL",
        "created_at": when,
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
