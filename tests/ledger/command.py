"""The import command: what a run of it came to, and the real thing in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.ledger.door import Row


@dataclass(frozen=True)
class Outcome:
    """What an import came to: its exit status, its summary, and the rejects file, if there is one."""

    status: int
    summary: Row
    rejects: list[Row] | None
    text: str

    @property
    def reasons(self) -> dict[int, str]:
        """What is wrong, by line."""
        return {reject["line"]: reject["reason"] for reject in self.rejects or []}


def rejects_of(path: Path) -> list[Row] | None:
    """The lines of the rejects file beside `path`."""
    rejects = Path(f"{path}.rejects.ndjson")
    return [json.loads(line) for line in rejects.read_bytes().splitlines()] if rejects.exists() else None


def command(
    database_url: str, folder: Path, kind: str, name: str, standard_input: str = ""
) -> tuple[int, str, str]:
    """The real command, in `folder`: its status, its output, its errors."""
    done = subprocess.run(
        [sys.executable, "-m", "wallet_api", "import", kind, name],
        input=standard_input,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"DATABASE_URL": database_url},
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
