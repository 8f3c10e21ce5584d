"""What is measured: the calls of each case, which server answers them, and the targets."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.benchmarks.http_world import Made

MEMORY_MB = 100
IMPORT_SECONDS = 0.5
LARGE_RATIO = 3.0
P99_RATIO = 4.0
PEER_RATIO = 3.0


@dataclass(frozen=True)
class Case:
    """Calls to one server. `least` is the target as a share of bare Flask, `peer` the peer's equal case."""

    server: str
    paths: tuple[str, ...]
    least: float | None = None
    peer: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def cases(made: Made) -> dict[str, Case]:
    """All cases by name. The server `fresh` keeps no answers, so each call to it is a miss."""
    record = "/v1/wallets/history?blockchain=solana&type=whale&address="
    holdings = "/v1/wallets/holdings?blockchain=solana&address="
    everyone = "/v1/wallets?blockchain=base&type=smart"
    board = "/v1/wallet/leaderboard?blockchain=solana&type=kol&period=1d&limit=10"
    volume = "/v1/transactions/volume?blockchain=solana&type=kol"
    # Windows that differ need other buckets, as callers at other seconds do; but no more than there are kept
    # arguments, for those callers ask the same.
    windows = random.Random(1).sample(range(60, 86_400), 1_000)
    gzip = {"Accept-Encoding": "gzip"}
    return {
        "bare Flask": Case("flask", ("/",)),
        "bare Flask, gthread": Case("gthread", ("/",)),
        "raw WSGI": Case("wsgi", ("/",)),
        "volume, hit": Case("service", (f"{volume}&hours=1",), 0.5, "peer, volume"),
        "leaderboard of 10, hit": Case("service", (board,), 0.5, "peer, leaderboard"),
        "list of 50, hit": Case("service", (f"{everyone}&limit=50",), 0.5, "peer, list of 50"),
        "holdings, hit": Case("service", (holdings + made.record_addresses[0],), 0.5, "peer, holdings"),
        "history, hit": Case("service", (record + made.record_addresses[0],)),
        "volume, miss": Case(
            "fresh", tuple(f"{volume}&seconds={window}" for window in windows), 0.3, "peer, volume"
        ),
        "leaderboard of 10, miss": Case("fresh", (board,)),
        "list of 50, miss": Case(
            "fresh",
            tuple(f"{everyone}&limit=50&cursor={place}" for place in made.crowd_cursors),
            0.3,
            "peer, list of 50",
        ),
        "history, miss": Case("fresh", tuple(record + address for address in made.record_addresses), 0.25),
        "holdings, miss": Case("fresh", tuple(holdings + address for address in made.record_addresses)),
        "5,000 wallets, hit": Case("service", (everyone,)),
        "5,000 wallets, hit, gzip": Case("service", (everyone,), headers=gzip),
        "5,000 wallets, miss": Case("fresh", (everyone,)),
        "5,000 wallets, miss, gzip": Case("fresh", (everyone,), headers=gzip),
        "peer, gates alone": Case("peer", ("/gates",)),
        "peer, volume": Case("peer", tuple(f"{volume}&seconds={window}" for window in windows)),
        "peer, list of 50": Case(
            "peer", tuple(f"{everyone}&limit=50&after={place}" for place in made.crowd_addresses[49:-50:50])
        ),
        "peer, leaderboard": Case("peer", (board,)),
        "peer, holdings": Case("peer", tuple(holdings + address for address in made.record_addresses)),
    }


def mixed(made: Made) -> tuple[str, ...]:
    """Calls of every kind, as a public service gets them: many the same, many that differ, a few large."""
    chosen = random.Random(2)
    light = [
        case
        for name, case in cases(made).items()
        if case.server in ("service", "fresh") and not name.startswith("5,000 wallets")
    ]
    paths = [chosen.choice(chosen.choice(light).paths) for _ in range(5_000)]
    heavy = f"/v1/wallets/history?blockchain=eth&type=kol&address={made.heavy_address}"
    everyone = "/v1/wallets?blockchain=base&type=smart"
    return (*paths, *[heavy] * 5, *[everyone] * 5)
