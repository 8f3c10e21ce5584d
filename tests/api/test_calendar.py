"""GET /v1/wallet/pnl_calendar: months without gaps, the bounds of days, streaks, and sums that agree."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
THIS_MONTH = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
LAST_MONTH = (THIS_MONTH - timedelta(days=1)).replace(day=1)


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for a wallet of Solana."""
    importer = Importer(database_url)
    importer.wallets([{"blockchain": "solana", "type": "kol", "wallet_address": SOLANA, "name": "Sol"}])
    return importer


def trade(signature: int, at: datetime, side: str, value: str, **fields: Any) -> Row:
    """A trade of one token."""
    return trade_row(SOLANA, f"s{signature:03}", at, transaction_type=side, value=value, **fields)


def calendar(caller: Caller) -> Row:
    """The calendar of the wallet."""
    return caller.get("/wallet/pnl_calendar", blockchain="solana", address=SOLANA)


def test_a_wallet_that_never_traded_has_an_empty_calendar(caller: Caller, importer: Importer) -> None:
    data = calendar(caller)
    assert (data["wallet"], data["profile"]["name"]) == (SOLANA, "Sol")
    assert (data["months"], data["month"], data["dates"]) == ([], {}, [])


def test_months_without_trades_are_there_and_the_present_one_is_the_last(
    caller: Caller, importer: Importer
) -> None:
    first = (LAST_MONTH - timedelta(days=1)).replace(day=1)
    importer.trades([trade(1, first + timedelta(days=3), "buy", "2")])
    data = calendar(caller)
    assert [(month["month"]["year"], month["month"]["month"]) for month in data["months"]] == [
        (month.year, month.month) for month in (first, LAST_MONTH, THIS_MONTH)
    ]
    assert [month["month"]["txn_total"] for month in data["months"]] == [1, 0, 0]
    assert [len(month["dates"]) for month in data["months"]] == [1, 0, 0]
    assert data["month"] == data["months"][-1]["month"]
    assert data["dates"] == []
    empty = {name: value for name, value in data["month"].items() if name not in ("year", "month")}
    # Without trades there are no unknown dollars.
    assert set(empty.values()) == {0}
    assert len(empty) == 13


def test_a_day_begins_with_its_first_moment_and_ends_before_the_next_day(
    caller: Caller, importer: Importer
) -> None:
    day = LAST_MONTH + timedelta(days=9)
    moments = [day, day + timedelta(days=1, microseconds=-1), day + timedelta(days=1)]
    importer.trades([trade(number, at, "buy", "1") for number, at in enumerate(moments)])
    dates = calendar(caller)["months"][0]["dates"]
    assert [(date["date"], date["buy_txn"]) for date in dates] == [
        (day.date().isoformat(), 2),
        ((day + timedelta(days=1)).date().isoformat(), 1),
    ]


def test_streaks_are_of_days_that_sold_and_a_profit_of_nothing_ends_them(
    caller: Caller, importer: Importer
) -> None:
    rows: list[Row] = []
    signatures = count()
    # Per day: the profit of its sell, or no sell.
    for number, profit in enumerate((1, 2, None, 3, 0, 4, -1, -1, 0, -1, 5)):
        at = LAST_MONTH + timedelta(days=number, hours=5)
        mint = {"mint": mint_of(f"token {number}")}
        rows.append(trade(next(signatures), at, "buy", "2", **mint))
        if profit is not None:
            rows.append(trade(next(signatures), at + timedelta(hours=1), "sell", str(2 + profit), **mint))
    # Sold, but never bought: realizes nothing, and so ends nothing.
    rows.append(trade(next(signatures), LAST_MONTH + timedelta(days=2), "sell", "9", mint=mint_of("airdrop")))
    importer.trades(rows)
    month = calendar(caller)["months"][0]["month"]
    assert (month["positive_streak"], month["negative_streak"]) == (3, 2)
    assert (month["realized_pnl"], month["buy_txn"], month["sell_txn"]) == (12, 11, 11)


def test_a_token_counts_once_a_month(caller: Caller, importer: Importer) -> None:
    days = [LAST_MONTH + timedelta(days=number) for number in (1, 1, 2, 3)]
    mints = ["a", "b", "a", "c"]
    importer.trades(
        [
            trade(n, at, "buy", "1", mint=mint_of(mint))
            for n, (at, mint) in enumerate(zip(days, mints, strict=True))
        ]
    )
    month = calendar(caller)["months"][0]
    assert month["month"]["tokens_traded"] == 3
    assert [date["tokens_traded"] for date in month["dates"]] == [2, 1, 1]


def test_dollars_are_left_out_where_they_are_unknown(caller: Caller, importer: Importer) -> None:
    at = LAST_MONTH + timedelta(days=1)
    importer.trades(
        [
            trade(1, at, "buy", "1", value_usd="100"),
            trade(2, at, "buy", "1"),
            trade(3, at + timedelta(hours=1), "sell", "3"),
        ]
    )
    (date,) = calendar(caller)["months"][0]["dates"]
    assert date["total_buy_usd"] == 100
    assert not {"total_sell_usd", "realized_pnl_usd"} & set(date)
    # With a price, though hours away, every trade has dollars; a profit has not.
    importer.prices([{"currency": "SOL", "usd": "150", "priced_at": (at + timedelta(days=1)).isoformat()}])
    (date,) = calendar(caller)["months"][0]["dates"]
    assert (date["total_buy_usd"], date["total_sell_usd"]) == (250, 450)
    assert "realized_pnl_usd" not in date


def test_the_days_add_up_to_the_months_and_to_the_lifetime(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade(
                n,
                LAST_MONTH + timedelta(hours=9 * n),
                "sell" if n % 3 else "buy",
                f"{n}.5",
                token_amount=f"{n + 1}",
            )
            for n in range(90)
        ]
    )
    data = calendar(caller)
    lifetime = caller.get("/wallets/history", blockchain="solana", type="kol", address=SOLANA)[
        "lifetime_stats"
    ]
    for name, key in (
        ("total_buy", "buy"),
        ("total_sell", "sell"),
        ("buy_txn", "buy_txn"),
        ("sell_txn", "sell_txn"),
    ):
        assert sum(month["month"][name] for month in data["months"]) == lifetime[key]
        for month in data["months"]:
            assert sum(date[name] for date in month["dates"]) == month["month"][name]
    # Each of these is rounded.
    realized = sum(month["month"]["realized_pnl"] for month in data["months"])
    assert abs(realized - lifetime["realized_pnl"]) <= len(data["months"]) * Decimal("1e-9")


def test_a_wallet_that_is_not_tracked_is_404(caller: Caller, importer: Importer) -> None:
    error = caller.ask("/wallet/pnl_calendar", blockchain="solana", address=UNTRACKED)["error"]
    assert (error["code"], error["reason"]) == ("not_found", "wallet_not_found")
    error = caller.ask("/wallet/pnl_calendar", blockchain="solana", address=SOLANA, type="kol")["error"]
    assert (error["code"], error["parameter"]) == ("invalid_parameter", "type")
