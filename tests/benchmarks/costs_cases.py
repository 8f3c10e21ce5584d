"""The dearest requests of each operation, each with other arguments than the one before.

To measure another one, add it to `cases`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import cycle
from typing import Any

from tests.benchmarks import ledger_world
from tests.benchmarks.http_world import solana_address
from tests.benchmarks.ledger_world import GROUP
from tests.benchmarks.ledger_world import OF_HEAVY as HEAVY
from tests.benchmarks.ledger_world import OF_HOT as HOT
from tests.benchmarks.ledger_world import OF_LIGHT as LIGHT
from tests.benchmarks.ledger_world import OF_MEDIAN as MEDIAN

Arguments = Mapping[str, Any]

_MINTS = [solana_address(f"{ledger_world.HEAVY} {number}") for number in range(2_000)]
_MANY = 10**9


@dataclass(frozen=True)
class Case:
    """A request, by its number. With a `pause` before each, nothing that is kept serves it."""

    name: str
    path: str
    arguments: Callable[[int], Arguments]
    pause: bool = False


def _signals(mode: str, **more: Any) -> Callable[[int], Arguments]:
    def arguments(number: int) -> Arguments:
        as_of = f"{ledger_world.as_of(number):%Y-%m-%dT%H:%M:%SZ}"
        return {**GROUP, "mode": mode, "hours": 168, "min_wallets": 1, "limit": 100, "as_of": as_of, **more}

    return arguments


def _window(days: int, **more: Any) -> Callable[[int], Arguments]:
    def arguments(number: int) -> Arguments:
        until = ledger_world.as_of(number)
        return {
            **GROUP,
            "since": f"{until - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}",
            "until": f"{until:%Y-%m-%dT%H:%M:%SZ}",
            **more,
        }

    return arguments


def _listed(number: int, values: list[str], most: int = 100) -> str:
    """Return so many of the values, others for each number."""
    first = number * 7 % len(values)
    return ",".join((values * 2)[first : first + most])


def cases(addresses: list[str]) -> list[Case]:
    """Return all cases; `addresses` are the wallets of the group."""
    latest, of_token = "/v1/transactions/latest", "/v1/tokens/transactions"
    sides = cycle(("realized_pnl", "total_volume", "win_rate", "total_txn"))
    return [
        Case("wallets, about 250", "/v1/wallets", lambda n: GROUP | {"limit": 1 + n % 500}),
        Case("count", "/v1/transactions/count", lambda n: GROUP | {"seconds": 80_000 + n}),
        Case("volume", "/v1/transactions/volume", lambda n: GROUP | {"seconds": 80_000 + n}),
        Case("lookup, 100 addresses", "/v1/wallets/lookup", lambda n: {"address": _listed(n, addresses)}),
        Case("latest, 50", latest, lambda n: GROUP | {"limit": 50 + n % 3}),
        Case("latest, 1000", latest, lambda n: GROUP | {"limit": 1000 - n % 500}),
        Case("latest, value above all", latest, lambda n: GROUP | {"min_value": _MANY + n}),
        Case("latest, dollars above all", latest, lambda n: GROUP | {"min_value_usd": _MANY + n}),
        Case(
            "latest, 100 addresses, value above all",
            latest,
            lambda n: GROUP | {"address": _listed(n, addresses), "min_value": _MANY + n},
        ),
        Case(
            "changes, 100 addresses, value above all",
            latest,
            lambda n: (
                GROUP | {"after": "start", "address": _listed(n, addresses), "min_value_usd": _MANY + n}
            ),
        ),
        Case("latest, 1000, as CSV", latest, lambda n: GROUP | {"limit": 1000 - n % 500, "format": "csv"}),
        Case("changes from now, none", latest, lambda n: GROUP | {"limit": 50 + n % 3, "after": "now"}),
        Case("changes, 1000", latest, lambda n: GROUP | {"after": "start", "limit": 1000}),
        Case(
            "timerange, 1000",
            "/v1/transactions/timerange",
            lambda n: GROUP | {"seconds": 3600 - n, "limit": 1000},
        ),
        Case("token's trades, 1000", of_token, lambda n: HOT | {"limit": 1000 - n % 500}),
        Case("token's trades, value above all", of_token, lambda n: HOT | {"min_value": _MANY + n}),
        Case("token's stats", "/v1/tokens/stats", lambda n: HOT | {"limit": 1000 - n % 500}),
        Case("token's holders", "/v1/tokens/holders", lambda n: HOT | {"limit": 1000 - n % 500}),
        Case(
            "prices of 100 tokens",
            "/v1/tokens/prices",
            lambda n: {"blockchain": GROUP["blockchain"], "mint": _listed(n, _MINTS)},
        ),
        Case("history, 1000", "/v1/wallets/history", lambda n: HEAVY | GROUP | {"limit": 1000 - n % 500}),
        Case("history, light wallet", "/v1/wallets/history", lambda n: LIGHT | GROUP | {"limit": 50 + n % 3}),
        Case("tracker 30d", "/v1/wallets/tracker", lambda n: HEAVY | {"period": "30d"}, pause=True),
        Case("calendar", "/v1/wallet/pnl_calendar", lambda n: HEAVY, pause=True),
        Case(
            "copy, median wallet",
            "/v1/wallets/copy",
            lambda n: MEDIAN | {"since": ledger_world.days_ago(90), "delay": 1 + n},
        ),
        Case(
            "copy, heavy wallet, a day",
            "/v1/wallets/copy",
            # In a ledger of a million trades more than 1,000 of the 2,000 that may be copied.
            lambda n: HEAVY | {"since": _window(1)(n)["since"], "delay": 1 + n},
        ),
        Case(
            "board of a week, copied, another window",
            "/v1/wallet/leaderboard",
            lambda n: (
                GROUP
                | {"since": ledger_world.days_ago(7), "until": f"{ledger_world.as_of(n):%Y-%m-%dT%H:%M:%SZ}"}
                | {"copied": "true", "sort": "realized_pnl", "limit": 100}
            ),
        ),
        Case("connections", "/v1/wallets/connections", lambda n: MEDIAN | {"limit": 1000 - n}),
        Case("connections, heavy wallet", "/v1/wallets/connections", lambda n: HEAVY | {"limit": 1000 - n}),
        *(
            Case(
                f"board {period}, first",
                "/v1/wallet/leaderboard",
                lambda n, period=period: GROUP | {"period": period},
                pause=True,
            )
            for period in ("30d", "90d", "all")
        ),
        *(
            Case(f"board of {days} days, another window", "/v1/wallet/leaderboard", _window(days))
            for days in (1, 30, 365)
        ),
        Case(
            "board of 30 days, all types, another window", "/v1/wallet/leaderboard", _window(30, type="all")
        ),
        Case("most_traded of 30 days, another window", "/v1/analytics", _window(30, mode="most_traded")),
        Case("volume_trend of a year, another window", "/v1/analytics", _window(365, mode="volume_trend")),
        Case(
            "tracker of 30 days, another window",
            "/v1/wallets/tracker",
            lambda n: HEAVY | {name: _window(30)(n)[name] for name in ("since", "until")},
        ),
        Case(
            "board 30d, another page",
            "/v1/wallet/leaderboard",
            lambda n: GROUP | {"period": "30d", "sort": next(sides), "min_txn": 1 + n},
        ),
        *(
            Case(
                f"{mode} 30d, first",
                "/v1/analytics",
                lambda n, mode=mode: GROUP | {"mode": mode, "period": "30d", "limit": 1000},
                pause=True,
            )
            for mode in ("volume_trend", "most_traded")
        ),
        Case(
            "volume_trend 30d, another limit",
            "/v1/analytics",
            lambda n: GROUP | {"mode": "volume_trend", "period": "30d", "limit": 1000 - n % 500},
        ),
        Case(
            "net_flow 7d, first",
            "/v1/analytics",
            lambda n: GROUP | {"mode": "net_flow", "period": "7d", "limit": 1000},
            pause=True,
        ),
        Case(
            "net_flow 7d, another limit",
            "/v1/analytics",
            lambda n: GROUP | {"mode": "net_flow", "period": "7d", "limit": 1000 - n % 500},
        ),
        *(
            Case(f"signals {mode}, a week, another time", "/v1/signals", _signals(mode))
            for mode in ("cluster", "entry", "exit")
        ),
        Case(
            "signals exit, a week, another limit",
            "/v1/signals",
            lambda n: GROUP | {"mode": "exit", "hours": 168, "min_wallets": 1, "limit": 100 - n % 50},
        ),
        Case(
            "signals exit, a week, another limit, no wallets",
            "/v1/signals",
            lambda n: (
                GROUP
                | {
                    "mode": "exit",
                    "hours": 168,
                    "min_wallets": 1,
                    "limit": 100 - n % 50,
                    "include_wallets": "false",
                }
            ),
        ),
    ]
