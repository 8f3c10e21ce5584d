"""GET /v1/wallets/tracker: bounds of period and chart, cut lists, active hours, and caching."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row, tracker
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row
from wallet_api.database import Connection
from wallet_api.queries.tracker import active_hours
from wallet_api.settings import Settings

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
NOW = datetime.now(UTC).replace(microsecond=0)
MINUTE = timedelta(minutes=1)
WALLET = {"blockchain": "solana", "address": SOLANA}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for a wallet of Solana."""
    importer = Importer(database_url)
    importer.wallets(
        [
            {
                "blockchain": "solana",
                "type": "kol",
                "wallet_address": SOLANA,
                "name": "Sol",
                "copytrade_link": "https://copy.example/sol",
            }
        ]
    )
    return importer


def trade(signature: str, side: str, at: datetime, value: str = "1", **fields: Any) -> Row:
    """A trade of the wallet, of one token by default."""
    return trade_row(SOLANA, signature, at, transaction_type=side, value=value, **fields)


def test_a_wallet_that_never_traded_has_zeros_and_empty_lists(caller: Caller, importer: Importer) -> None:
    data = caller.get("/wallets/tracker", **WALLET)
    assert data["wallet"] == SOLANA
    assert data["profile"] == {
        "wallet_address": SOLANA,
        "name": "Sol",
        "image_url": "",
        "twitter": "",
        "telegram": "",
        "copytrade_link": "https://copy.example/sol",
        "type": "kol",
        "blockchain": "solana",
        "currency": "SOL",
        "active_hours": "",
    }
    stats = data["period_stats"]
    assert stats.pop("period") == "1d"
    assert len(stats) == 18
    assert set(stats.values()) == {0}
    assert set(data["period_win_rate_distribution"].values()) == {0}
    assert data["period_active_tokens"] == {
        "active_tokens_count": 0,
        "still_holding_count": 0,
        "avg_position_size": 0,
        "tokens": [],
    }
    for name in ("period_history_tokens", "period_realized_pnl_chart", "period_trades"):
        assert data[name] == []


def test_the_alias_and_the_default_period_give_the_same(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("a", "buy", NOW - timedelta(hours=3))])
    first = caller.get("/wallets/tracker", **WALLET)
    assert caller.get("/wallet/tracking", **WALLET, period="1d") == first
    assert caller.get("/wallets/tracker", **WALLET, period="") == first


def test_a_period_is_open_where_it_starts_and_closed_where_it_ends(
    importer: Importer, connection: Connection
) -> None:
    moments = {
        "at the start": NOW - timedelta(hours=6),
        "after the start": NOW - timedelta(hours=6) + timedelta(microseconds=1),
        "at the end": NOW,
        "after the end": NOW + timedelta(microseconds=1),
    }
    importer.trades([trade(name, "buy", at) for name, at in moments.items()])
    data = tracker(connection, NOW, "solana", SOLANA, "6h")
    assert [row["tx_signature"] for row in data["period_trades"]] == ["at the end", "after the start"]
    (row,) = data["period_history_tokens"]
    # Its trades are those of the period, what is held is of now.
    assert (row["buy_txn"], row["buy_tokens"], row["remaining_tokens"]) == (2, 2, 4)
    assert (row["bag_pct"], row["still_holding"], row["unrealized_pnl"]) == (100, True, 0)


def test_the_chart_has_the_ends_of_its_buckets_and_now(importer: Importer, connection: Connection) -> None:
    start = NOW - timedelta(hours=6)
    importer.trades(
        [
            trade("a", "buy", start - MINUTE, "10", token_amount="10"),
            trade("b", "sell", start + timedelta(microseconds=1), "3"),
            # Of the bucket that ends then.
            trade("c", "sell", start + 5 * MINUTE, "2"),
            trade("d", "sell", start + 5 * MINUTE + timedelta(microseconds=1), "0"),
        ]
    )
    assert _chart(tracker(connection, NOW, "solana", SOLANA, "6h")) == [
        (start, 0),
        (start + 5 * MINUTE, 3),
        (start + 10 * MINUTE, 2),
        (NOW, 2),
    ]
    # The last bucket ends now: its point is there once.
    importer.trades([trade("e", "sell", NOW - MINUTE, "5")])
    assert _chart(tracker(connection, NOW, "solana", SOLANA, "6h"))[-2:] == [
        (start + 10 * MINUTE, 2),
        (NOW, 6),
    ]


def test_a_chart_has_dollars_at_all_points_or_at_none(importer: Importer, connection: Connection) -> None:
    at = NOW - timedelta(hours=3)
    importer.trades(
        [
            trade("a", "buy", at, "10", token_amount="10", value_usd="1000"),
            trade("b", "sell", at + 30 * MINUTE, "3", value_usd="300"),
        ]
    )
    data = tracker(connection, NOW, "solana", SOLANA, "6h")
    assert [point["realized_pnl_usd"] for point in data["period_realized_pnl_chart"]] == [0, 200, 200]
    importer.trades([trade("c", "sell", at + 60 * MINUTE, "3")])
    data = tracker(connection, NOW, "solana", SOLANA, "6h")
    assert not [point for point in data["period_realized_pnl_chart"] if "realized_pnl_usd" in point]
    assert "realized_pnl_usd" not in data["period_stats"]


def test_a_trade_repeats_its_value_under_its_side(importer: Importer, connection: Connection) -> None:
    importer.trades(
        [
            trade("a", "buy", NOW - 9 * MINUTE, "2", token_amount="0.000000000000000001", value_usd="30"),
            trade(
                "b", "sell", NOW - 8 * MINUTE, "1.5", token_amount="0.000000000000000001", token_name="Coin"
            ),
        ]
    )
    sell, buy = tracker(connection, NOW, "solana", SOLANA, "6h")["period_trades"]
    assert (buy["buy_value"], buy["buy_value_usd"], buy["value_usd"]) == (2, 30, 30)
    assert (str(buy["token_amount"]), buy["token_name"]) == ("1E-18", "Coin")
    assert sell["sell_value"] == sell["value"]
    assert not {"value_usd", "sell_value_usd", "buy_value"} & set(sell)
    (row,) = tracker(connection, NOW, "solana", SOLANA, "6h")["period_history_tokens"]
    # Nothing is left, so that no price is needed.
    assert (row["remaining_tokens"], row["still_holding"], row["unrealized_pnl"]) == (0, False, 0)


def test_lists_are_cut_at_a_thousand_with_a_warning(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade(
                f"s{number:04}",
                "buy",
                NOW - timedelta(seconds=5000 - number),
                mint=mint_of(f"mint {number:04}"),
            )
            for number in range(1002)
        ]
        + [trade("sold", "sell", NOW - timedelta(seconds=10), mint=mint_of("mint 1001"))]
    )
    data = caller.get("/wallets/tracker", **WALLET, period="6h")
    assert data["warnings"] == [
        "period_active_tokens.tokens has the newest 1000 of 1001.",
        "period_history_tokens has the newest 1000 of 1002.",
        "period_trades has the newest 1000 of 1003.",
    ]
    held, rows = data["period_active_tokens"]["tokens"], data["period_history_tokens"]
    assert [len(held), len(rows), len(data["period_trades"])] == [1000, 1000, 1000]
    assert (rows[0]["mint"], rows[-1]["mint"]) == (mint_of("mint 1001"), mint_of("mint 0002"))
    assert (held[0]["mint"], held[-1]["mint"]) == (mint_of("mint 1000"), mint_of("mint 0001"))
    assert held[:999] == rows[1:]
    assert data["period_stats"]["total_txn"] == 1003
    assert data["period_active_tokens"]["active_tokens_count"] == 1002


@pytest.mark.parametrize(
    ("trades", "hours"),
    [
        ({}, ""),
        ({0: 1}, "00:00-01:00 UTC"),
        ({23: 7}, "23:00-24:00 UTC"),
        # 80 of 100 are enough.
        ({13: 40, 14: 40, 3: 20}, "13:00-15:00 UTC"),
        ({13: 40, 14: 39, 15: 1, 3: 20}, "13:00-16:00 UTC"),
        # It passes midnight.
        ({22: 5, 23: 5, 0: 5, 1: 5, 12: 5}, "22:00-02:00 UTC"),
        # Most trades, then the earliest.
        ({1: 8, 2: 1, 23: 1}, "01:00-02:00 UTC"),
        ({1: 41, 2: 41, 3: 43, 4: 0}, "01:00-04:00 UTC"),
        (dict.fromkeys(range(24), 1), "00:00-20:00 UTC"),
        ({5: 1, 17: 1}, "05:00-18:00 UTC"),
    ],
)
def test_active_hours_are_the_shortest_run_with_four_fifths_of_the_trades(
    trades: dict[int, int], hours: str
) -> None:
    assert active_hours([trades.get(hour, 0) for hour in range(24)]) == hours


def test_active_hours_are_of_thirty_days_whatever_the_period(
    importer: Importer, connection: Connection
) -> None:
    noon = (NOW - timedelta(days=10)).replace(hour=12, minute=30, second=0)
    importer.trades(
        [
            *(trade(f"s{number}", "buy", noon + number * timedelta(days=1)) for number in range(5)),
            *(
                trade(f"old {number}", "buy", noon - timedelta(days=40, hours=5, minutes=number))
                for number in range(9)
            ),
        ]
    )
    assert tracker(connection, NOW, "solana", SOLANA, "6h")["profile"]["active_hours"] == "12:00-13:00 UTC"


def test_a_tracker_is_cached_as_long_as_a_leaderboard(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    importer: Importer,
    connection: Connection,
) -> None:
    client = make_app(replace(settings, leaderboard_ttl_seconds=30.0)).test_client()
    caller = Caller.new(client, connection)
    first = caller.ask("/wallets/tracker", **WALLET)
    importer.trades([trade("a", "buy", NOW - MINUTE)])
    second = caller.ask("/wallets/tracker", **WALLET)
    assert (first["meta"]["cached"], second["meta"]["cached"]) == (False, True)
    assert second["data"] == first["data"]
    other = caller.ask("/wallets/tracker", **WALLET, period="7d")
    assert (other["meta"]["cached"], other["data"]["period_stats"]["buy_txn"]) == (False, 1)
    # Other operations are not.
    history = caller.ask("/wallets/history", **WALLET, type="kol")
    assert history["data"]["lifetime_stats"]["buy_txn"] == 1


def test_what_is_refused(caller: Caller, importer: Importer) -> None:
    error = caller.ask("/wallets/tracker", **WALLET | {"address": UNTRACKED})["error"]
    assert (error["code"], error["reason"]) == ("not_found", "wallet_not_found")
    error = caller.ask("/wallets/tracker", **WALLET, period="2d")["error"]
    assert (error["parameter"], error["allowed"]) == ("period", ["6h", "1d", "7d", "30d"])
    for name in ("type", "limit", "cursor"):
        error = caller.ask("/wallets/tracker", **WALLET, **{name: "kol"})["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", name)


def _chart(data: Row) -> list[tuple[datetime, Any]]:
    return [
        (datetime.fromisoformat(point["timestamp"]), point["realized_pnl"])
        for point in data["period_realized_pnl_chart"]
    ]
