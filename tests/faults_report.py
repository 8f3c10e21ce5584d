"""The tables of docs/faults.md, as the tests measure them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.attacks import p99
from tests.callers import Met


@dataclass
class Report:
    """The lines of both tables, in the order of the tests."""

    faults: list[tuple[str, str, str, str]] = field(default_factory=list)
    attacks: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, fault: str, meanwhile: str, met: Met, recovery_seconds: float) -> None:
        """Note what callers met during a fault."""
        answers = ", ".join(f"{count} x {status}" for status, count in sorted(met.statuses.items()))
        lost = f", {len(met.failures)} broken off" if met.failures else ""
        self.faults.append((fault, meanwhile, answers + lost, f"{recovery_seconds:.2f} s"))

    def attack(self, attack: str, waits: list[float]) -> None:
        """Note how long others waited during an attack."""
        self.attacks[attack] = f"{p99(waits) * 1000:.0f} ms ({waits[-1] * 1000:.0f} ms)"

    def write(self, file: Path) -> None:
        """Write the page."""
        folder = Path(__file__).parent / "integration"
        faults = "".join(f"| {' | '.join(row)} |\n" for row in self.faults)
        attacks = "".join(f"| {attack} | {waited} |\n" for attack, waited in self.attacks.items())
        file.write_text(
            f"{(folder / 'faults.head.md').read_text()}{faults}\n"
            f"{(folder / 'attacks.head.md').read_text()}{attacks}\n"
            f"Measured {datetime.now(UTC):%Y-%m-%d} by `make faults`.\n"
        )
