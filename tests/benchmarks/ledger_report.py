"""The figures of a run as a table with its targets, and as a plot."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.benchmarks.ledger_operations import OPERATIONS

LIST = "list, 50"
HEAVY = "history, heavy wallet"
LIGHT = "history, light wallet"
VOLUME = "volume, 24 h"
BOARD = "leaderboard 30d"
MADE = "leaderboard 30d, recomputed"

_FIVE = (LIST, HEAVY, LIGHT, VOLUME, BOARD)
_OPERATIONS = (*_FIVE, *(operation.name for operation in OPERATIONS))
# Those whose responses have the same size in a ledger of any size.
_FLAT = (*_FIVE, *(operation.name for operation in OPERATIONS if operation.flat))
_OTHERS = ("same figures in SQL", "sums in SQL", "sums in DuckDB")

IMPORT_RATIO = 0.3
KEPT_RATE = 0.8
MEMORY_MB = 300
FLAT_RATIO = 1.25
FASTER = 100

All = Mapping[int, Mapping[str, float]]


def table(found: All) -> str:
    """All figures, in Markdown, and the targets that were missed."""
    lines = [
        "| figure | " + " | ".join(f"{size:,} trades" for size in found) + " | largest : smallest |",
        "|---|" + "---:|" * (len(found) + 1),
    ]
    for name in next(iter(found.values())):
        values = " | ".join(_shown(figures[name]) for figures in found.values())
        ratio = _shown(_growth(found, name)) if name in map(_p50, _OPERATIONS) else ""
        lines.append(f"| {name} | {values} | {ratio} |")
    for operation in _OPERATIONS:
        for other in _OTHERS:
            name = f"{other}, {operation}, p50 ms"
            if name in next(iter(found.values())):
                ratios = (figures[name] / figures[f"{operation}, p50 ms"] for figures in found.values())
                lines.append(f"| {other} : ours, {operation} | {' | '.join(map(_shown, ratios))} | |")
    return "\n".join([*lines, "", "Targets missed: " + ("; ".join(missed(found)) or "none")])


def missed(found: All) -> list[str]:
    """Each target that was not met, with what was found. Some hold for large ledgers only."""
    faults = []
    for size, figures in found.items():
        if size >= 1_000_000 and figures["import : raw COPY"] < IMPORT_RATIO:
            faults.append(f"{size:,}: import {figures['import : raw COPY']:.2f} × COPY, not {IMPORT_RATIO}")
        if figures["importer, MB"] > MEMORY_MB:
            faults.append(f"{size:,}: importer {figures['importer, MB']:.0f} MB, not {MEMORY_MB}")
    largest = found[max(found)]
    for operation in _FIVE:
        duckdb = largest.get(f"sums in DuckDB, {operation}, p50 ms")
        if duckdb is not None and duckdb < largest[_p50(operation)]:
            faults.append(f"{max(found):,}: {operation} is slower than DuckDB")
    for operation in _FLAT:
        ratio = _growth(found, _p50(operation))
        if ratio > FLAT_RATIO:
            faults.append(f"{operation}: {ratio:.2f} × its p50 at {min(found):,}, not {FLAT_RATIO}")
    if max(found) >= 10_000_000:
        for operation in (HEAVY, BOARD):
            name = f"same figures in SQL, {operation}, p50 ms"
            ratio = largest[name] / largest[f"{operation}, p50 ms"]
            if ratio < FASTER:
                faults.append(f"{operation}: {ratio:.0f} × faster than SQL, not {FASTER}")
        if 1_000_000 in found:
            ratio = largest["import, rows/s"] / found[1_000_000]["import, rows/s"]
            if ratio < KEPT_RATE:
                faults.append(f"import: {ratio:.2f} × its rate at 1,000,000, not {KEPT_RATE}")
    return faults


def plot(found: All, file: Path) -> None:
    """The median of each of the five operations by the number of trades, beside the other ways to ask."""
    # The same run gives the same file.
    mpl.rcParams |= {"svg.hashsalt": "ledger", "svg.fonttype": "none"}
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    for place, operation in enumerate(_FIVE):
        color = f"C{place}"
        _line(axes, found, operation, label=operation, color=color, marker="o")
        for other, style in zip(_OTHERS, ("--", ":", "-."), strict=True):
            name = f"{other}, {operation}"
            if f"{name}, p50 ms" in next(iter(found.values())) and operation in (HEAVY, BOARD):
                _line(axes, found, name, label=name, color=color, linestyle=style)
    axes.set(xscale="log", yscale="log", xlabel="trades in the ledger", ylabel="median, ms")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    figure.savefig(file, metadata={"Date": None})


def _line(axes: object, found: All, name: str, **options: object) -> None:
    axes.plot(list(found), [figures[f"{name}, p50 ms"] for figures in found.values()], **options)  # type: ignore[attr-defined]


def _p50(operation: str) -> str:
    return f"{operation}, p50 ms"


def _growth(found: All, name: str) -> float:
    """The figure of the largest ledger, as a multiple of that of the smallest."""
    return found[max(found)][name] / found[min(found)][name]


def _shown(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:,.2f}"
