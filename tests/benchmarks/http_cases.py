"""The cases of one hot key: their requests, which server responds to them, and the targets."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.http_keys import Keys
from tests.benchmarks.http_world import Made

MEMORY_MB = 100
IMPORT_SECONDS = 0.5
LARGE_RATIO = 3.0
P99_RATIO = 4.0
PEER_RATIO = 3.0


class Call(NamedTuple):
    """One request."""

    path: str
    key: str = ""
    accept_encoding: str = ""


@dataclass(frozen=True)
class Case:
    """Requests to one server, and the targets of their rate.

    `least` is a share of bare Flask. `peer` is the peer's equal case, and `least_of_peer` the multiple of it
    that is the target. `beside` is another case of which this one has to reach nine tenths. The p99 of a
    `steady` case stays within P99_RATIO times the p50. `lead_in_calls` are sent before each measurement.
    """

    server: str
    calls: Sequence[Call]
    least: float | None = None
    peer: str | None = None
    least_of_peer: float | None = None
    beside: str | None = None
    steady: bool = False
    lead_in_calls: int = 0


YARDSTICK = "bare Flask"


def hot_cases(made: Made, keys: Keys) -> dict[str, Case]:
    """Return all cases by name. The server `fresh` keeps nothing, so each request to it is a miss."""
    key = keys.hot
    record = "/v1/wallets/history?blockchain=solana&type=whale&address="
    holdings = "/v1/wallets/holdings?blockchain=solana&address="
    everyone = "/v1/wallets?blockchain=base&type=smart"
    board = "/v1/wallet/leaderboard?blockchain=solana&type=kol&period=1d&limit=10"
    volume = "/v1/transactions/volume?blockchain=solana&type=kol"
    # Windows that differ need other buckets, as callers at other seconds do; but no more than there are kept
    # arguments, for those callers send the same.
    windows = random.Random(1).sample(range(60, 86_400), 1_000)
    histories = [record + address for address in made.record_addresses]
    balances = [holdings + address for address in made.record_addresses]
    volumes = [f"{volume}&seconds={window}" for window in windows]
    pages = [f"{everyone}&limit=50&cursor={cursor}" for cursor in made.crowd_cursors]
    peer_pages = [f"{everyone}&limit=50&after={place}" for place in made.crowd_addresses[49:-50:50]]

    def case(server: str, paths: Sequence[str], least: float | None = None, peer: str | None = None) -> Case:
        of_peer = PEER_RATIO if peer and server == "service" else None
        return Case(server, [Call(path, key) for path in paths], least, peer, of_peer, steady=bool(least))

    def gzip(server: str) -> Case:
        return Case(server, [Call(everyone, key, "gzip")])

    return {
        YARDSTICK: Case("flask", [Call("/")]),
        "bare Flask, gthread": Case("gthread", [Call("/")]),
        "raw WSGI": Case("wsgi", [Call("/")]),
        "volume, hit": case("service", [f"{volume}&hours=1"], 0.5, "peer, volume"),
        "leaderboard of 10, hit": case("service", [board], 0.5, "peer, leaderboard"),
        "list of 50, hit": case("service", [f"{everyone}&limit=50"], 0.5, "peer, list of 50"),
        "holdings, hit": case("service", balances[:1], 0.5, "peer, holdings"),
        "history, hit": case("service", histories[:1]),
        "volume, miss": case("fresh", volumes, 0.3, "peer, volume"),
        "leaderboard of 10, miss": case("fresh", [board]),
        "list of 50, miss": case("fresh", pages, 0.3, "peer, list of 50"),
        "history, miss": case("fresh", histories, 0.25),
        "holdings, miss": case("fresh", balances),
        "5,000 wallets, hit": case("service", [everyone]),
        "5,000 wallets, hit, gzip": gzip("service"),
        "5,000 wallets, miss": case("fresh", [everyone]),
        "5,000 wallets, miss, gzip": gzip("fresh"),
        "peer, gates alone": case("hot peer", ["/gates"]),
        "peer, volume": case("hot peer", volumes),
        "peer, list of 50": case("hot peer", peer_pages),
        "peer, leaderboard": case("hot peer", [board]),
        "peer, holdings": case("hot peer", balances),
    }


def varied(cases: Mapping[str, Case], made: Made, key: str) -> list[Call]:
    """Return requests of every kind, as a public service gets them: many equal, many not, a few large."""
    chosen = random.Random(2)
    light = [
        case
        for name, case in cases.items()
        if case.server in ("service", "fresh") and not name.startswith("5,000 wallets")
    ]
    calls = [chosen.choice(chosen.choice(light).calls) for _ in range(5_000)]
    heavy = f"/v1/wallets/history?blockchain=eth&type=kol&address={made.heavy_address}"
    everyone = "/v1/wallets?blockchain=base&type=smart"
    return [*calls, *[Call(heavy, key)] * 5, *[Call(everyone, key)] * 5]


def write_calls(file: Path, calls: Sequence[Call]) -> Path:
    """Write the requests for wrk's script."""
    file.write_text("".join("\t".join(call) + "\n" for call in calls))
    return file
