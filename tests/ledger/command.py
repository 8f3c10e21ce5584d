"""The commands that import and remove rows."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.ledger.in_process import Row
from tests.ledger.rows import BEN, EVM, trade_row
from tests.lib.processes import run_command
from wallet_api.settings import Settings

AT = datetime(2026, 1, 30, 12, 51, 16, tzinfo=UTC)
WALLETS = [
    {"blockchain": "solana", "type": "kol", "wallet_address": BEN, "name": "Sol"},
    {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
]


@dataclass(frozen=True)
class Outcome:
    """The result of a command: exit status, summary, output, and the rejects file if there is one."""

    status: int
    summary: Row
    rejects: list[Row] | None
    text: str

    @property
    def reasons(self) -> dict[int, str]:
        """The reasons by line number."""
        return {reject["line"]: reject["reason"] for reject in self.rejects or []}


def trade(signature: str = "s", **fields: Any) -> Row:
    """Return a valid trade of the first of WALLETS."""
    return trade_row(BEN, signature, AT, **fields)


def rejects_of(path: Path) -> list[Row] | None:
    """Return the lines of the rejects file of `path`."""
    rejects = Path(f"{path}.rejects.ndjson")
    return [json.loads(line) for line in rejects.read_bytes().splitlines()] if rejects.exists() else None


def run_file(database_url: str, verb: str, kind: str, path: Path, *options: str) -> Outcome:
    """Run `import` or `remove` on a file, in the process of the test."""
    result = run_command(verb, kind, path, "--json", *options, settings=Settings(database_url=database_url))
    summary = json.loads(result.stdout) if result.exit_code in (0, 3) else {}
    return Outcome(result.exit_code, summary, rejects_of(path), result.output)


def changed(outcome: Outcome) -> tuple[int, int]:
    """Return how many rows were imported, and how many of them changed something."""
    assert outcome.status == 0, outcome.text
    return outcome.summary["landed"], outcome.summary["changed"]
