"""GET /v1/wallet/pnl_calendar: months without gaps, the bounds of days, streaks, and sums that agree."""

from datetime import UTC, datetime, timedelta
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


def test_streaks_are_of_days_that_sold_and_a_profit_of_nothing_ends_them(
    caller: Caller, importer: Importer
) -> None:
    rows: list[Row] = []
    signatures = count()
    # Per day: the profit of its sell, or no sell.
    for number, profit in enumerate((1, 2, None, 3, 0, 4, -1, -1, 0, 0, 0, -1, 5)):
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
    assert (month["realized_pnl"], month["buy_txn"], month["sell_txn"]) == (12, 13, 13)
