"""Run `wallet-api discover` against the stub, in a folder of its own."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ledger.in_process import Row
from tests.sync.operator import Operator


@dataclass(frozen=True)
class Discovery:
    """The result of the command: exit status, what it printed, and its file."""

    status: int
    text: str
    notes: str
    file: Path

    @property
    def document(self) -> Row:
        """What --json printed."""
        (line,) = (line for line in self.text.splitlines() if line.startswith("{"))
        return dict(json.loads(line))

    @property
    def wallets(self) -> list[str]:
        """The addresses in the file, in their order."""
        return [json.loads(line)["wallet_address"] for line in self.file.read_text().splitlines()]

    def of(self, address: str) -> Row:
        """What is said of a wallet."""
        (wallet,) = (row for row in self.document["wallets"] if row["address"] == address)
        return dict(wallet)


def discover(operator: Operator, folder: Path, *arguments: str, **environment: str) -> Discovery:
    """Run the command with --yes and --json."""
    file = folder / "found.ndjson"
    result = operator.run("discover", *arguments, "--yes", "--json", "--output", str(file), **environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Discovery(result.exit_code, result.stdout, result.stderr, file)


def sums(row: Row, *names: str) -> tuple[Any, ...]:
    """Return some values of a row."""
    return tuple(row[name] for name in names)
