"""Each operation over HTTP returns the figures of a naive reading of the rows, and of none.

That they are the same for any ledger is tested without HTTP, in tests/integration/test_ledger_properties.py.
"""

from collections.abc import Callable
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

# What the data of an operation has, by the time of the response.
Figures = Callable[[datetime], Row]
HOURS = 5
QUIET = {"blockchain": "eth", "type": "kol", "wallet_address": "0xabcdef0123456789abcdef0123456789abcdef01"}


def questions(ledger: Ledger, wallet: Row, mint: str) -> list[tuple[str, Row, Figures]]:
    """Return each operation with arguments and their figures, for one wallet, its group, and one token."""
    blockchain, type, address = wallet["blockchain"], wallet["type"], wallet["wallet_address"]
    own, group = (blockchain, address), (blockchain, type)
    window = {"type": type, "hours": HOURS}
    least = {"min_txn": Decimal(5), "min_volume": Decimal(9), "min_closed": Decimal(1)}
    parts = {"min_win_rate": Decimal(20), "max_without_cost": Decimal("99.5")}
    buyers = {"sort": "buyers", "order": "asc"}
    rising = {"period": "all", "sort": "avg_hold_time_minutes", "order": "asc"}

    def counts(now: datetime) -> Row:
        trades, wallets = ledger.count(now, *group, HOURS * 3600)
        return {"count": trades, "wallet_count": wallets}

    def price(now: datetime) -> Row:
        return ledger.native_price(now, blockchain)

    def several(flows: list[Row]) -> list[Row]:
        return [row for row in flows if row["windows"]["7d"]["wallet_count"] > 1]

    return [
        (
            "/wallets/history",
            {"address": address, "type": type, "limit": 1000},
            lambda now: ledger.history(now, *own),
        ),
        (
            "/wallets/tokens",
            {"address": address, "limit": 1000, "sort": "open_cost", "order": "asc"},
            lambda now: {"tokens": ledger.wallet_tokens(now, *own, "open_cost", "asc"), **price(now)},
        ),
        *(
            (
                "/wallets/tracker",
                {"address": address, "period": period},
                lambda now, period=period: ledger.tracker(now, *own, period),
            )
            for period in ("1d", "30d", "90d", "all")
        ),
        ("/wallet/pnl_calendar", {"address": address}, lambda now: ledger.calendar(now, *own)),
        ("/wallets/connections", {"address": address}, lambda now: ledger.connections(now, *own)),
        (
            "/wallet/leaderboard",
            {"type": type, "period": "7d"},
            lambda now: {"leaderboard": ledger.leaderboard(now, *group, "7d"), **price(now)},
        ),
        (
            "/wallet/leaderboard",
            {"type": type} | rising,
            lambda now: rising | {"leaderboard": ledger.leaderboard(now, *group, *rising.values())},
        ),
        *(
            (
                "/wallet/leaderboard",
                {"type": type, "period": "30d"} | bounds,
                lambda now, bounds=bounds: (
                    bounds
                    | {"leaderboard": ledger.leaderboard(now, *group, "30d", filters=tuple(bounds.items()))}
                ),
            )
            for bounds in (least, parts)
        ),
        (
            "/analytics",
            {"type": type, "mode": "most_traded", "limit": 1000},
            lambda now: {"tokens": ledger.analytics(now, *group, "7d"), **price(now)},
        ),
        (
            "/analytics",
            {"type": type, "mode": "net_flow", "limit": 1000},
            lambda now: {"net_flows": ledger.net_flow(now, *group, "1d"), **price(now)},
        ),
        (
            "/analytics",
            {"type": type, "mode": "net_flow", "period": "7d", "min_wallets": 2, "limit": 1000} | buyers,
            lambda now: {"net_flows": several(ledger.net_flow(now, *group, "7d", *buyers.values()))},
        ),
        (
            "/signals",
            {"type": type, "mode": "cluster", "min_wallets": 1, "limit": 100},
            lambda now: {
                "signals": ledger.signals(now, *group, "cluster", least_wallets=1)[:100],
                **price(now),
            },
        ),
        (
            "/transactions/volume",
            window | {"mint": mint},
            lambda now: ledger.volume(now, *group, HOURS * 3600, mint),
        ),
        ("/transactions/count", window, counts),
        (
            "/transactions/timerange",
            {"type": type, "limit": 1000},
            lambda now: {"transactions": ledger.timerange(now, *group, 3600)},
        ),
        (
            "/transactions/latest",
            {"type": type, "limit": 1000},
            lambda now: {"transactions": ledger.latest(now, *group)},
        ),
        (
            "/tokens/transactions",
            {"mint": mint, "type": type, "limit": 1000},
            lambda now: {"transactions": ledger.token_transactions(now, blockchain, mint, type)},
        ),
        (
            "/tokens/stats",
            {"mint": mint, "type": type},
            lambda now: ledger.token_stats(now, blockchain, mint, type) or {},
        ),
        (
            "/tokens/holders",
            {"mint": mint, "type": type},
            lambda now: ledger.token_holders(now, blockchain, mint, type) or {},
        ),
        (
            "/tokens/prices",
            {"mint": mint},
            lambda now: {"tokens": ledger.token_prices(now, blockchain, [mint]), **price(now)},
        ),
    ]


def compared(caller: Caller, path: str, arguments: Row, figures: Figures) -> tuple[Any, Any]:
    """Return what an operation returns, and what it should; again if a second began meanwhile."""
    for _ in range(5):
        document = caller.document(path, **arguments)
        expected = figures(datetime.fromisoformat(document["meta"]["timestamp"]))
        found = {name: document["data"].get(name, "absent") for name in expected}
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
        for path, arguments, figures in questions(ledger, wallet, mint):
            # Of a token that nobody traded there is nothing: see test_tokens.py.
            if wallet is QUIET and path.startswith("/tokens"):
                continue
            given = {"blockchain": wallet["blockchain"]} | arguments
            found, expected = compared(caller, path, given, figures)
            assert found == expected, (path, arguments)
            lists += [(wallet is QUIET, rows) for rows in found.values() if isinstance(rows, list)]
    # Whoever traded nothing has nothing in any list, and the other one has something in each.
    assert len(lists) > 20
    assert [is_quiet for is_quiet, rows in lists if is_quiet is bool(rows)] == []
