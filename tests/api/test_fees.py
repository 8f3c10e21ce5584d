"""Fees: what a trade cost beside what was exchanged, as docs/figures.md defines them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, GROUP, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
OF_ANN = {"blockchain": "solana", "address": ANN}
# Side, value, exchanged_value and fees of each trade, oldest first; None is unknown.
TRADES = (
    ("buy", "2", "1.95", Decimal("0.05")),
    ("sell", "2.9", "3", Decimal("0.1")),
    ("buy", "1", "1.2", 0),
    ("buy", "1", None, None),
    ("sell", "1", "0", None),
)


def _rows() -> list[Row]:
    return [
        trade_row(
            ANN,
            f"s{number}",
            NOW - timedelta(minutes=30 - number),
            transaction_type=side,
            value=value,
            **({} if exchanged is None else {"exchanged_value": exchanged}),
        )
        for number, (side, value, exchanged, _) in enumerate(TRADES)
    ]


def _sums(caller: Caller) -> list[tuple[object, object]]:
    """Return the fees of each operation that sums them, with how many are unknown."""
    window = {"since": (NOW - timedelta(hours=1)).isoformat()}
    history = {"address": ANN, **GROUP}
    found = [caller.get("/wallets/history", **history)["lifetime_stats"]]
    for span in ({"period": "7d"}, {"period": "30d"}, window):
        found.append(caller.get("/wallets/tracker", **OF_ANN, **span)["period_stats"])
    for span in ({"period": "6h"}, {"period": "30d"}, {"period": "all"}, window):
        [entry] = caller.get("/wallet/leaderboard", **GROUP, **span, address=ANN)["leaderboard"]
        found.append(entry["period_stats"])
    months = caller.get("/wallet/pnl_calendar", **OF_ANN)["months"]
    for days in ([day for month in months for day in month["dates"]], [month["month"] for month in months]):
        found.append({name: sum(day[name] for day in days) for name in ("fees", "fees_unknown_txn")})
    return [(stats["fees"], stats["fees_unknown_txn"]) for stats in found]


def test_the_worked_example_of_the_document_has_its_fees_everywhere(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(_rows())
    expected = [fees for *_, fees in reversed(TRADES)]
    lists = [
        caller.get("/transactions/latest", **GROUP)["transactions"],
        caller.get("/transactions/latest", **GROUP, after="start")["transactions"][::-1],
        caller.get("/wallets/history", **GROUP, address=ANN)["trades"],
        caller.get("/wallets/tracker", **OF_ANN)["period_trades"],
    ]
    assert [[row.get("fees") for row in rows] for rows in lists] == [expected] * 4
    assert set(_sums(caller)) == {(Decimal("0.15"), 2)}
    brief = caller.get("/wallets/brief", **OF_ANN)
    assert [brief[window]["fees"] for window in ("all", "month", "week")] == [Decimal("0.15")] * 3
