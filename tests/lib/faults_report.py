"""The tables of docs/faults.md, as the tests measure them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.lib.attacks import p99


@dataclass
class Report:
    """The lines of both tables, in the order of the tests."""

    faults: list[tuple[str, str, str]] = field(default_factory=list)
    attacks: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, fault: str, meanwhile: str, recovery_seconds: float) -> None:
        """Note what callers get during a fault, and how long it lasts after its cause."""
        self.faults.append((fault, meanwhile, f"{recovery_seconds:.2f} s"))

    def attack(self, attack: str, waits: list[float]) -> None:
        """Note how long others waited during an attack."""
        self.attacks[attack] = f"{p99(waits) * 1000:.0f} ms ({waits[-1] * 1000:.0f} ms)"

    def write(self, file: Path) -> None:
        """Write the page."""
        folder = Path(__file__).parents[1] / "integration"
        faults = "".join(f"| {' | '.join(row)} |\n" for row in self.faults)
        attacks = "".join(f"| {attack} | {waited} |\n" for attack, waited in self.attacks.items())
        file.write_text(
            f"{(folder / 'faults.head.md').read_text()}{faults}\n"
            f"{(folder / 'attacks.head.md').read_text()}{attacks}\n"
            f"Measured {datetime.now(UTC):%Y-%m-%d} by `make faults`.\n"
        )
