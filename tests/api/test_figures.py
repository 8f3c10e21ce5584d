"""Each operation over HTTP returns the figures of a naive reading of the rows, and of none.

That they are the same for any ledger is tested without HTTP, in tests/integration/test_ledger_properties.py.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of
from tests.naive.ledger import Ledger

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

HOURS = 5
QUIET = {"blockchain": "eth", "type": "kol", "wallet_address": "0xabcdef0123456789abcdef0123456789abcdef01"}


@dataclass(frozen=True)
class Question:
    """A request, and what the naive reading has of it: all of the data, or this member of it."""

    path: str
    arguments: Row
    naive: str
    of: tuple[Any, ...]
    member: str = ""

    def expected(self, ledger: Ledger, now: datetime) -> Row:
        """Return the figures of the data at the time of the response."""
        found = getattr(ledger, self.naive)(now, *self.of)
        if self.naive == "count":
            return dict(zip(("count", "wallet_count"), found, strict=True))
        if not self.member:
            return dict(found or {})
        if self.naive == "net_flow":
            least = self.arguments.get("min_wallets", 1)
            found = [row for row in found if row["windows"][self.of[2]]["wallet_count"] >= least]
        return {self.member: found[: self.arguments.get("limit")]}


def questions(wallet: Row, mint: str) -> list[Question]:
    """Return each operation with arguments, for one wallet, its group, and one token."""
    blockchain, type, address = wallet["blockchain"], wallet["type"], wallet["wallet_address"]
    own, group, token = (blockchain, address), (blockchain, type), (blockchain, mint, type)
    of_wallet, of_group, of_token = {"address": address}, {"type": type}, {"mint": mint, "type": type}
    seconds, whole = HOURS * 3600, {"limit": 1000}
    held = {"sort": "open_cost", "order": "asc"}
    buyers = {"period": "7d", "sort": "buyers", "order": "asc"}
    rising = {"period": "all", "sort": "avg_hold_time_minutes", "order": "asc"}
    least = {"min_txn": Decimal(5), "min_volume": Decimal(9), "min_closed": Decimal(1)}
    parts = {"min_win_rate": Decimal(20), "max_without_cost": Decimal("99.5")}
    usual = ("30d", "total_volume", "desc")
    return [
        Question("/wallets/history", of_wallet | of_group | whole, "history", own),
        Question(
            *("/wallets/tokens", of_wallet | held | whole),
            *("wallet_tokens", (*own, *held.values()), "tokens"),
        ),
        *(
            Question("/wallets/tracker", of_wallet | {"period": period}, "tracker", (*own, period))
            for period in ("1d", "30d", "90d", "all")
        ),
        Question("/wallet/pnl_calendar", of_wallet, "calendar", own),
        Question("/wallets/connections", of_wallet, "connections", own),
        *(
            Question("/wallet/leaderboard", of_group | asked, "leaderboard", (*group, *of), "leaderboard")
            for asked, of in (
                ({"period": "7d"}, ("7d",)),
                (rising, rising.values()),
                *(({"period": "30d"} | bounds, (*usual, tuple(bounds.items()))) for bounds in (least, parts)),
            )
        ),
        Question(
            *("/analytics", of_group | whole | {"mode": "most_traded"}),
            *("analytics", (*group, "7d"), "tokens"),
        ),
        *(
            Question(
                *("/analytics", of_group | whole | {"mode": "net_flow"} | asked),
                *("net_flow", (*group, *of), "net_flows"),
            )
            for asked, of in (({}, ("1d",)), (buyers | {"min_wallets": 2}, buyers.values()))
        ),
        Question(
            *("/signals", of_group | {"mode": "cluster", "min_wallets": 1, "limit": 100}),
            *("signals", (*group, "cluster", 24, 1), "signals"),
        ),
        Question("/transactions/volume", of_token | {"hours": HOURS}, "volume", (*group, seconds, mint)),
        Question("/transactions/count", of_group | {"hours": HOURS}, "count", (*group, seconds)),
        Question("/transactions/timerange", of_group | whole, "timerange", (*group, 3600), "transactions"),
        Question("/transactions/latest", of_group | whole, "latest", group, "transactions"),
        Question("/tokens/transactions", of_token | whole, "token_transactions", token, "transactions"),
        Question("/tokens/stats", of_token, "token_stats", token),
        Question("/tokens/holders", of_token, "token_holders", token),
        Question("/tokens/prices", {"mint": mint}, "token_prices", (blockchain, [mint]), "tokens"),
    ]


def compared(caller: Caller, ledger: Ledger, chain: str, question: Question) -> tuple[Row, Row]:
    """Return what an operation returns, and what it should; again if a second began meanwhile."""
    for _ in range(5):
        document = caller.document(question.path, blockchain=chain, **question.arguments)
        now, data = datetime.fromisoformat(document["meta"]["timestamp"]), document["data"]
        # Arguments are repeated, and prices of the coin are the same everywhere.
        same = {"blockchain": chain} | question.arguments | ledger.native_price(now, chain)
        same = {name: value for name, value in same.items() if name in data}
        expected = same | question.expected(ledger, now)
        found = {name: data.get(name, "absent") for name in expected}
        if found == expected:
            break
    return found, expected


def test_each_operation_returns_the_figures_of_the_rows(caller: Caller, database_url: str) -> None:
    # No price is of this very second, and no trade nearly so old as a period or a window is long.
    now, wallets = datetime.now(UTC) - timedelta(minutes=1), random_trades.wallets(6)
    ledger = random_trades.import_all(
        Importer(database_url),
        wallets=[*wallets, QUIET],
        prices=random_trades.prices(now, 9),
        trades=random_trades.trades(300, 6, now, days=9),
    )
    busiest = ledger.latest(now, "solana", "kol")[0]
    lists = []
    # Of each chain, whose mints have its form.
    for wallet, mint in ((wallets[0], busiest["mint"]), (QUIET, evm_mint_of("1"))):
        for question in questions(wallet, mint):
            # Of a token that nobody traded there is nothing: see test_tokens.py.
            if wallet is QUIET and question.path.startswith("/tokens"):
                continue
            found, expected = compared(caller, ledger, str(wallet["blockchain"]), question)
            assert found == expected, question
            lists += [(wallet is QUIET, rows) for rows in found.values() if isinstance(rows, list)]
    # Whoever traded nothing has nothing in any list, and the other one has something in each.
    assert len(lists) > 20
    assert [is_quiet for is_quiet, rows in lists if is_quiet is bool(rows)] == []
