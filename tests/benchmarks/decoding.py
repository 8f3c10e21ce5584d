"""The figures of docs/sync.md, "EVM chains from a node", and what decoding costs, from what was recorded.

    python -m tests.benchmarks.decoding

Of each kind of node: how many trades are exact, and the CPU time of a pair.
"""

import time
from collections import Counter
from decimal import Decimal

import click

from tests.decoding import test_evm_recorded, test_solana_recorded
from tests.decoding.evm import ARCHIVE, BARE, TRACES
from tests.decoding.test_evm_recorded import Case

_SMALL = Decimal("0.011")
_ROUNDS = 7


def kind_of(case: Case, read: str) -> str:
    """Return the row of figures that a result belongs to."""
    if not case.trades:
        return "no trades: right" if read == "right" else f"no trades: {read.split()[0]}"
    if case.is_unproven:
        return f"named: {read}"
    if read.startswith("off"):
        return "value off by at most 1.1 %" if Decimal(read.split()[1]) <= _SMALL else "value off by more"
    return "exact" if read == "right" else "left out" if read.startswith("missed") else read


def milliseconds(cases: list[Case], node: str | None = None) -> float:
    """Return the least CPU time of a pair; `node` is None on Solana."""
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        for case in cases:
            if node is None:
                case.decode()
            else:
                case.given.decode(case.wallet, node)
        best = min(best, time.process_time() - began)
    return 1000 * best / len(cases)


@click.command()
def main() -> None:
    """Print both."""
    recorded = {case.key: case for case in test_evm_recorded.CASES if case.is_recorded}
    for node in (ARCHIVE, TRACES, BARE):
        found = Counter(
            kind_of(recorded[key], read)
            for key, read in test_evm_recorded.results(node).items()
            if key in recorded
        )
        click.echo(f"{node}: " + ", ".join(f"{name} {number}" for name, number in sorted(found.items())))
    for node in (ARCHIVE, BARE):
        click.echo(f"{node}: {milliseconds(list(recorded.values()), node):.3f} ms a pair")
    click.echo(f"Solana: {milliseconds(test_solana_recorded.CASES):.3f} ms a pair")


if __name__ == "__main__":
    main()
