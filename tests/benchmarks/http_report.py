"""The figures of a run: medians over its rounds, ratios to the yardstick beside, targets, and a table."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.http_cases import (
    IMPORT_SECONDS,
    LARGE_RATIO,
    MEMORY_MB,
    P99_RATIO,
    PEER_RATIO,
    Case,
)
from tests.benchmarks.http_load import Measured

YARDSTICK = "bare Flask"


@dataclass(frozen=True)
class Run:
    """A round: each case, and the calls per second of the yardstick just before and after it."""

    cases: dict[str, Measured]
    yardsticks: dict[str, float]

    def of_yardstick(self, name: str) -> float:
        """What a case is of the yardstick beside it: machines change their speed within seconds."""
        return self.cases[name].calls_per_second / self.yardsticks[name]


def figures(cases: Mapping[str, Case], runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """Each case in medians over the runs; `of_flask` and `of_peer` are ratios of calls per second."""
    return {name: _figures(name, case, runs) for name, case in cases.items()}


def _figures(name: str, case: Case, runs: Sequence[Run]) -> dict[str, Any]:
    def median(value: Callable[[Measured], float]) -> float:
        return statistics.median(value(run.cases[name]) for run in runs)

    def of_peer(peer: str) -> float | None:
        if any(peer not in run.cases for run in runs):
            return None
        return statistics.median(run.of_yardstick(name) / run.of_yardstick(peer) for run in runs)

    return {
        "calls_per_second": median(lambda case: case.calls_per_second),
        "of_flask": statistics.median(run.of_yardstick(name) for run in runs),
        "of_peer": of_peer(case.peer) if case.peer else None,
        "least_of_flask": case.least,
        "server_cpu_us": median(lambda case: case.server_cpu * 1e6),
        "stores_cpu_us": median(lambda case: case.stores_cpu * 1e6),
        "p50_ms": median(lambda case: case.p50),
        "p99_ms": median(lambda case: case.p99),
        "p99_of_p50": median(lambda case: case.p99 / case.p50),
        "bytes": median(lambda case: case.bytes_per_call),
    }


def table(found: Mapping[str, Any]) -> str:
    """All figures to be read, a target beside each that has one."""
    lines = [
        f"{'':26}{'calls/s':>9}{'× Flask':>9}{'target':>8}{'× peer':>8}"
        f"{'CPU µs':>8}{'stores':>8}{'p50 ms':>8}{'p99 ms':>8}{'bytes':>9}"
    ]
    for name, case in found["cases"].items():
        least = f"≥ {case['least_of_flask']}" if case["least_of_flask"] else ""
        peer = f"{case['of_peer']:.1f}" if case["of_peer"] else ""
        lines.append(
            f"{name:26}{case['calls_per_second']:9,.0f}{case['of_flask']:9.2f}{least:>8}{peer:>8}"
            f"{case['server_cpu_us']:8.0f}{case['stores_cpu_us']:8.0f}"
            f"{case['p50_ms']:8.2f}{case['p99_ms']:8.2f}{case['bytes']:9,.0f}"
        )
    if "large" in found:
        large = found["large"]
        lines += [
            "",
            f"5,000 wallets: {large['http_ms']:.1f} ms; SELECT json_agg(…): {large['json_agg_ms']:.1f} ms",
            f"import wallet_api.app: {found['import_seconds']:.2f} s",
            f"A worker after {found['mixed_calls']:,} mixed calls: {found['worker_mb']:.0f} MB",
        ]
    lines += ["", "Targets missed: " + ("; ".join(missed(found)) or "none")]
    return "\n".join(lines)


def missed(found: Mapping[str, Any]) -> list[str]:
    """Each target that was not met, with what was found."""
    faults = []
    for name, case in found["cases"].items():
        if case["least_of_flask"] and case["of_flask"] < case["least_of_flask"]:
            faults.append(f"{name}: {case['of_flask']:.2f} × Flask, not {case['least_of_flask']}")
        # A miss asks the same PostgreSQL the same question, which takes both the same time.
        if case["of_peer"] and name.endswith("hit") and case["of_peer"] < PEER_RATIO:
            faults.append(f"{name}: {case['of_peer']:.1f} × the peer, not {PEER_RATIO}")
        if case["least_of_flask"] and case["p99_of_p50"] > P99_RATIO:
            faults.append(f"{name}: p99 is {case['p99_of_p50']:.1f} × p50, not {P99_RATIO}")
    if "large" in found:
        large = found["large"]["http_ms"] / found["large"]["json_agg_ms"]
        if large > LARGE_RATIO:
            faults.append(f"5,000 wallets: {large:.1f} × json_agg, not {LARGE_RATIO}")
        if found["import_seconds"] > IMPORT_SECONDS:
            faults.append(f"import: {found['import_seconds']:.2f} s, not {IMPORT_SECONDS}")
        if found["worker_mb"] > MEMORY_MB:
            faults.append(f"memory: {found['worker_mb']:.0f} MB, not {MEMORY_MB}")
    return faults
