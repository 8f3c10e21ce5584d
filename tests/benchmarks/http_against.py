"""Two checkouts compared in one run: the same requests to each in turn, and the ratios of their medians."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import requests

from tests.benchmarks.http_cases import Call, Case
from tests.benchmarks.http_load import Measured
from tests.benchmarks.http_report import markdown
from tests.benchmarks.http_rounds import Bench, Progress
from tests.benchmarks.http_servers import Server

ENOUGH_ROUNDS = 6

# Of each round: this checkout's, and the other's.
Pairs = list[tuple[Measured, Measured]]


def refused(server: Server, cases: Mapping[str, Case]) -> set[str]:
    """Return the operations that a server refuses, by one request to each: an older checkout lacks some."""
    calls = {call.operation: call for case in cases.values() for call in case.calls}
    return {operation for operation, call in calls.items() if not _succeeds(server, call)}


def _succeeds(server: Server, call: Call) -> bool:
    headers = {"Authorization": f"Bearer {call.key}"}
    return requests.get(f"{server.url}{call.path}", headers=headers, timeout=30).ok


def without(cases: Mapping[str, Case], operations: set[str]) -> dict[str, Case]:
    """Return the cases without the requests to these operations."""
    return {
        name: replace(case, calls=[call for call in case.calls if call.operation not in operations])
        for name, case in cases.items()
    }


def compare(
    ours: Bench, others: Bench, names: Sequence[str], rounds: int, seconds: int, progress: Progress
) -> dict[str, Pairs]:
    """Measure each case of both in each round. Which one comes first changes from round to round."""
    pairs: dict[str, Pairs] = {name: [] for name in names}
    for name in names:
        progress(f"warming up: {name}")
        ours.warm_up(name)
        others.warm_up(name)
    for number in range(rounds):
        for name in names:
            progress(f"round {number + 1} of {rounds}: {name}")
            found = {}
            for bench in (ours, others) if number % 2 else (others, ours):
                bench.lead_in(name)
                found[bench] = bench.measure(name, seconds)
            pairs[name].append((found[ours], found[others]))
    return pairs


def figures(pairs: Mapping[str, Pairs]) -> dict[str, dict[str, Any]]:
    """Return the medians of both, their ratio, and the lowest and highest ratio within one round."""
    return {name: _figures(of_case) for name, of_case in pairs.items()}


def _figures(pairs: Pairs) -> dict[str, Any]:
    def medians(value: Callable[[Measured], float]) -> tuple[float, float]:
        ours, others = zip(*((value(one), value(other)) for one, other in pairs), strict=True)
        return statistics.median(ours), statistics.median(others)

    rates = medians(lambda measured: measured.calls_per_second)
    server = medians(lambda measured: measured.server_cpu * 1e6)
    ratios = [one.calls_per_second / other.calls_per_second for one, other in pairs]
    return {
        "calls_per_second": rates,
        "ratio": rates[0] / rates[1],
        "lowest_ratio": min(ratios),
        "highest_ratio": max(ratios),
        "server_cpu_us": server,
        "server_cpu_ratio": server[0] / server[1],
        "postgres_cpu_us": medians(lambda measured: measured.postgres_cpu * 1e6),
        "valkey_cpu_us": medians(lambda measured: measured.valkey_cpu * 1e6),
        "p50_ms": medians(lambda measured: measured.p50),
        "p99_ms": medians(lambda measured: measured.p99),
    }


def table(cases: Mapping[str, Mapping[str, Any]], rounds: int) -> str:
    """Return the figures in Markdown; where there are two in a cell, this checkout's stands first."""
    head = ["case", "calls/s", "ratio", "of rounds", "server µs", "ratio", "PostgreSQL µs", "Valkey µs"]
    head += ["p50 ms", "p99 ms"]
    rows = [
        [
            name,
            "{:,.0f} : {:,.0f}".format(*case["calls_per_second"]),
            f"{case['ratio']:.3f}",
            f"{case['lowest_ratio']:.2f} to {case['highest_ratio']:.2f}",
            "{:.0f} : {:.0f}".format(*case["server_cpu_us"]),
            f"{case['server_cpu_ratio']:.3f}",
            "{:.0f} : {:.0f}".format(*case["postgres_cpu_us"]),
            "{:.0f} : {:.0f}".format(*case["valkey_cpu_us"]),
            "{:.1f} : {:.1f}".format(*case["p50_ms"]),
            "{:.1f} : {:.1f}".format(*case["p99_ms"]),
        ]
        for name, case in cases.items()
    ]
    text = markdown(head, rows)
    if rounds < ENOUGH_ROUNDS:
        text += f"\n\n{rounds} rounds: too few to decide anything by; {ENOUGH_ROUNDS} are the least."
    return text
