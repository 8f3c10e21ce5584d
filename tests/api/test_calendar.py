"""GET /v1/wallet/pnl_calendar: streaks of days."""

from datetime import UTC, datetime, timedelta
from itertools import count

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, trade_row

LAST_MONTH = (datetime.now(UTC).replace(day=1, hour=0, minute=0) - timedelta(days=1)).replace(day=1)


def test_streaks_are_of_days_that_sold_and_a_profit_of_nothing_ends_them(
    caller: Caller, importer: Importer
) -> None:
    rows: list[Row] = []
    signatures = count()

    def trade(at: datetime, mint: str, side: str, value: int) -> None:
        rows.append(
            trade_row(
                ANN,
                f"s{next(signatures):03}",
                at,
                mint=mint_of(mint),
                transaction_type=side,
                value=str(value),
            )
        )

    # By day: the profit of its sell, or no sell.
    for number, profit in enumerate((1, 2, None, 3, 0, 4, -1, -1, 0, 0, 0, 0, -1, 5)):
        at = LAST_MONTH + timedelta(days=number, hours=5)
        trade(at, f"token {number}", "buy", 2)
        if profit is not None:
            trade(at + timedelta(hours=1), f"token {number}", "sell", 2 + profit)
    # Sold, but never bought: realizes nothing, and so ends nothing.
    trade(LAST_MONTH + timedelta(days=2), "airdrop", "sell", 9)
    importer.trades(rows)
    data = caller.get("/wallet/pnl_calendar", blockchain="solana", address=ANN)
    month = data["months"][0]["month"]
    assert (month["positive_streak"], month["negative_streak"]) == (3, 2)
    assert (month["realized_pnl"], month["buy_txn"], month["sell_txn"]) == (12, 14, 14)
    # The present month is the last one, and is there without trades.
    assert (len(data["months"]), data["dates"]) == (2, [])
    assert data["month"] == data["months"][1]["month"]
