"""The figures of a run as a table with its targets."""

from collections.abc import Mapping

from tests.benchmarks.ledger_operations import OPERATIONS

LIST = "list, 50"
HEAVY = "history, heavy wallet"
LIGHT = "history, light wallet"
VOLUME = "volume, 24 h"
BOARD = "leaderboard 30d"
MADE = "leaderboard 30d, recomputed"
CHANGES = "next 100 changes"

_FIVE = (LIST, HEAVY, LIGHT, VOLUME, BOARD)
_OPERATIONS = (*_FIVE, CHANGES, *(operation.name for operation in OPERATIONS))
# Those whose responses have the same size in a ledger of any size.
_FLAT = (*_FIVE, CHANGES, *(operation.name for operation in OPERATIONS if operation.flat))

_MOST_MS = {CHANGES: 3.0} | {own.name: own.most_ms for own in OPERATIONS if own.most_ms is not None}

IMPORT_RATIO = 0.3
KEPT_RATE = 0.8
MEMORY_MB = 300
FLAT_RATIO = 1.25

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
    return "\n".join([*lines, "", "Targets missed: " + ("; ".join(missed(found)) or "none")])


def missed(found: All) -> list[str]:
    """Each target that was not met, with what was found. Some hold for large ledgers only."""
    faults = []
    for size, figures in found.items():
        if size >= 1_000_000 and figures["import : raw COPY"] < IMPORT_RATIO:
            faults.append(f"{size:,}: import {figures['import : raw COPY']:.2f} × COPY, not {IMPORT_RATIO}")
        if figures["importer, MB"] > MEMORY_MB:
            faults.append(f"{size:,}: importer {figures['importer, MB']:.0f} MB, not {MEMORY_MB}")
        faults += [
            f"{size:,}: {name} {figures[_p50(name)]:.1f} ms, not {most:g}"
            for name, most in _MOST_MS.items()
            if figures[_p50(name)] > most
        ]
    largest = found[max(found)]
    for operation in _FLAT:
        ratio = _growth(found, _p50(operation))
        if ratio > FLAT_RATIO:
            faults.append(f"{operation}: {ratio:.2f} × its p50 at {min(found):,}, not {FLAT_RATIO}")
    if max(found) >= 10_000_000 and 1_000_000 in found:
        ratio = largest["import, rows/s"] / found[1_000_000]["import, rows/s"]
        if ratio < KEPT_RATE:
            faults.append(f"import: {ratio:.2f} × its rate at 1,000,000, not {KEPT_RATE}")
    return faults


def _p50(operation: str) -> str:
    return f"{operation}, p50 ms"


def _growth(found: All, name: str) -> float:
    """The figure of the largest ledger, as a multiple of that of the smallest."""
    return found[max(found)][name] / found[min(found)][name]


def _shown(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:,.2f}"
