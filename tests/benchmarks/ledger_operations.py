"""The operations around the five, and how each is requested.

To measure another operation, add it to OPERATIONS.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.benchmarks import ledger_world
from tests.benchmarks.http_world import solana_address
from tests.benchmarks.ledger_world import GROUP
from tests.benchmarks.ledger_world import OF_HEAVY as HEAVY
from tests.benchmarks.ledger_world import OF_HOT as HOT
from tests.benchmarks.ledger_world import OF_MEDIAN as MEDIAN


@dataclass(frozen=True)
class Operation:
    """A request, and how many milliseconds it may take at any size.

    With `flat` its response has the same size, and has to take the same time, at all sizes.
    """

    name: str
    path: str
    arguments: Mapping[str, Any]
    flat: bool = True
    calls: int | None = None
    most_ms: float | None = None


WEEK = {"period": "7d"}
TRADER_SORTS = ("first_buy", "realized_pnl_percentage", "unrealized_pnl")
_MINTS = [solana_address(f"{ledger_world.MEDIAN} {number}") for number in range(ledger_world.MEDIAN_TOKENS)]
PRICES = {"blockchain": "solana", "mint": ",".join(_MINTS)}
BY_PROFIT = GROUP | {"period": "30d", "sort": "realized_pnl"}
ALL_BY_PROFIT = BY_PROFIT | {"period": "all"}
CLUSTER = GROUP | {"mode": "cluster"}
EXIT = GROUP | {"mode": "exit"}
NET_FLOW = GROUP | {"mode": "net_flow"}
TREND = GROUP | {"mode": "volume_trend", "period": "7d"}

OPERATIONS = (
    Operation("lookup", "/wallets/lookup", {"address": ledger_world.MEDIAN}),
    Operation("latest, 50", "/transactions/latest", GROUP),
    Operation("changes from now, none", "/transactions/latest", GROUP | {"after": "now"}, most_ms=3),
    Operation("timerange 1 h, 50", "/transactions/timerange", GROUP | {"hours": 1}),
    Operation("count, 24 h", "/transactions/count", GROUP),
    Operation("calendar, median wallet", "/wallet/pnl_calendar", MEDIAN),
    Operation("connections, median wallet", "/wallets/connections", MEDIAN),
    Operation("tracker 7d, median wallet", "/wallets/tracker", MEDIAN | WEEK),
    Operation("tracker 7d, heavy wallet", "/wallets/tracker", HEAVY | WEEK, flat=False, calls=20, most_ms=60),
    Operation("token transactions, 50, hot token", "/tokens/transactions", HOT),
    Operation("token stats, hot token", "/tokens/stats", HOT),
    *(
        Operation(
            f"token traders by {sort}, 50, hot token",
            "/tokens/stats",
            HOT | {"sort": sort, "limit": 50},
            most_ms=30,
        )
        for sort in TRADER_SORTS
    ),
    Operation("token holders, hot token", "/tokens/holders", HOT),
    Operation("prices of 60 tokens", "/tokens/prices", PRICES),
    Operation("latest, 1000, as CSV", "/transactions/latest", GROUP | {"limit": 1000, "format": "csv"}),
    Operation("signals 24 h, recomputed", "/signals", CLUSTER, flat=False, calls=20, most_ms=60),
    Operation("net flow, recomputed", "/analytics", NET_FLOW, flat=False, calls=20, most_ms=60),
    Operation("volume trend 7d, recomputed", "/analytics", TREND, flat=False, calls=20),
    Operation("exits 24 h, recomputed", "/signals", EXIT, flat=False, calls=20, most_ms=60),
    Operation(
        "leaderboard of all by profit, recomputed",
        "/wallet/leaderboard",
        ALL_BY_PROFIT,
        flat=False,
        calls=5,
        most_ms=300,
    ),
    Operation("leaderboard 30d by profit, recomputed", "/wallet/leaderboard", BY_PROFIT, flat=False, calls=5),
)
