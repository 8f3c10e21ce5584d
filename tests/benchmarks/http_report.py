"""The figures of a table: medians over its rounds, ratios to the yardstick, targets, and what missed them."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.benchmarks.http_cases import P99_RATIO, Case
from tests.benchmarks.http_load import Measured
from tests.benchmarks.http_rounds import Run

_BESIDE = 0.9


def figures(cases: Mapping[str, Case], runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """Return each case in medians over the runs; `of_…` are ratios of calls per second."""
    return {name: _figures(name, case, runs) for name, case in cases.items()}


def _figures(name: str, case: Case, runs: Sequence[Run]) -> dict[str, Any]:
    def median(value: Callable[[Measured], float]) -> float:
        return statistics.median(value(run.cases[name]) for run in runs)

    def of_case(other: str | None) -> float | None:
        if other is None or any(other not in run.cases for run in runs):
            return None
        return statistics.median(run.of_yardstick(name) / run.of_yardstick(other) for run in runs)

    return {
        "calls_per_second": median(lambda case: case.calls_per_second),
        "of_flask": statistics.median(run.of_yardstick(name) for run in runs),
        "least_of_flask": case.least,
        "of_peer": of_case(case.peer),
        "least_of_peer": case.least_of_peer,
        "of_beside": of_case(case.beside),
        "beside": case.beside,
        "steady": case.steady,
        "server_cpu_us": median(lambda case: case.server_cpu * 1e6),
        "postgres_cpu_us": median(lambda case: case.postgres_cpu * 1e6),
        "valkey_cpu_us": median(lambda case: case.valkey_cpu * 1e6),
        "nginx_cpu_us": median(lambda case: case.nginx_cpu * 1e6),
        "p50_ms": median(lambda case: case.p50),
        "p99_ms": median(lambda case: case.p99),
        "p99_of_p50": median(lambda case: case.p99 / case.p50),
        "bytes": median(lambda case: case.bytes_per_call),
    }


def table(cases: Mapping[str, Mapping[str, Any]], *, nginx: bool = False) -> str:
    """Return the figures of all cases as a table in Markdown, a target beside each that has one."""
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "calls/s": lambda case: f"{case['calls_per_second']:,.0f}",
        "× Flask": lambda case: f"{case['of_flask']:.2f}",
        "target": lambda case: f"≥ {case['least_of_flask']}" if case["least_of_flask"] else "",
        "× peer": lambda case: f"{case['of_peer']:.1f}" if case["of_peer"] else "",
        "server µs": lambda case: f"{case['server_cpu_us']:.0f}",
        "PostgreSQL µs": lambda case: f"{case['postgres_cpu_us']:.0f}",
        "Valkey µs": lambda case: f"{case['valkey_cpu_us']:.0f}",
        "nginx µs": lambda case: f"{case['nginx_cpu_us']:.0f}",
        "p50 ms": lambda case: f"{case['p50_ms']:.1f}",
        "p99 ms": lambda case: f"{case['p99_ms']:.1f}",
        "p99/p50": lambda case: f"{case['p99_of_p50']:.1f}",
        "bytes": lambda case: f"{case['bytes']:,.0f}",
    }
    if not nginx:
        del columns["nginx µs"]
    rows = [[name, *(shown(case) for shown in columns.values())] for name, case in cases.items()]
    return markdown(["case", *columns], rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, the first column to the left, all others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def joined(line: Sequence[str]) -> str:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        return f"| {' | '.join(cells)} |"

    return "\n".join(joined(line) for line in (head, rule, *rows))


def missed(cases: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return each target of a case that was not met, with what was found."""
    faults = []
    for name, case in cases.items():
        if case["least_of_flask"] and case["of_flask"] < case["least_of_flask"]:
            faults.append(f"{name}: {case['of_flask']:.2f} × Flask, not {case['least_of_flask']}")
        if case["least_of_peer"] and case["of_peer"] and case["of_peer"] < case["least_of_peer"]:
            faults.append(f"{name}: {case['of_peer']:.1f} × the peer, not {case['least_of_peer']}")
        if case["of_beside"] and case["of_beside"] < _BESIDE:
            faults.append(f"{name}: {case['of_beside']:.2f} × {case['beside']}, not {_BESIDE}")
        if case["steady"] and case["p99_of_p50"] > P99_RATIO:
            faults.append(f"{name}: p99 is {case['p99_of_p50']:.1f} × p50, not {P99_RATIO}")
    return faults
