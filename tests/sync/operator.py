"""Run the sync commands, and read the ledger."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from click.testing import Result

from tests.ledger.alone import ledger_alone
from tests.ledger.in_process import Importer, Row
from tests.lib.processes import Process, run_command, wallet_api
from tests.stub.server import Stub
from wallet_api.database import connect
from wallet_api.operate.demo.forms import evm_address, seeded, solana_address
from wallet_api.settings import Settings

WAIT_SECONDS = 90.0

_TRADES = """
SELECT wallets.blockchain, wallets.address, trades.tx_signature, tokens.mint, trades.is_sell,
       trades.event_index, trades.token_amount, trades.value, trades.value_usd, trades.created_at,
       trades.token_name
  FROM trades
  JOIN wallets USING (wallet_id)
  JOIN tokens USING (token_id)
"""

# Blockchain, wallet, transaction, mint, side; amounts as texts without zeros at their end.
Key = tuple[str, str, str, str, str]
Ledger = dict[Key, tuple[str, str, str | None, datetime, str | None]]


@dataclass(frozen=True)
class Outcome:
    """The result of a command: exit status, summaries, and the whole output."""

    status: int
    rounds: list[Row]
    text: str

    @property
    def only(self) -> Row:
        """The summary of its only round."""
        (summary,) = self.rounds
        return summary


class Operator:
    """Runs `wallet-api sync` against the stub and a database."""

    def __init__(self, stub: Stub, database_url: str) -> None:
        self.url = database_url
        self.environment = {**stub.environment, "DATABASE_URL": database_url}

    def track(self, *wallets: tuple[str, str]) -> None:
        """Track wallets, each a chain and an address."""
        rows = [{"blockchain": c, "type": "kol", "wallet_address": a} for c, a in wallets]
        Importer(self.url).wallets(rows)

    def trades(self, trades: Iterable[Row]) -> None:
        """Import trades."""
        Importer(self.url).trades(trades)

    def prices(self, *prices: tuple[str, str, datetime]) -> None:
        """Import native prices: currency, dollars, time."""
        rows = [{"currency": c, "usd": usd, "priced_at": at.isoformat()} for c, usd, at in prices]
        Importer(self.url).prices(rows)

    def run(self, *arguments: str, **environment: str) -> Result:
        """Run a command."""
        return run_command(*arguments, env={**self.environment, **environment})

    def sync(self, job: str = "trades", *options: str, **environment: str) -> Outcome:
        """Run one round."""
        result = self.run("sync", job, "--json", *options, **environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        rounds = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return Outcome(result.exit_code, rounds, result.output)

    def start(
        self,
        job: str,
        *options: str,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        **environment: str,
    ) -> Process[str]:
        """Start the command as a process of its own."""
        return self.process("sync", job, *options, stdout=stdout, stderr=stderr, **environment)

    def process(
        self, *command: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, **environment: str
    ) -> Process[str]:
        """Start a command as a process of its own."""
        own = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
        env = {**own, "NO_PROXY": "127.0.0.1", **self.environment, **environment}
        return wallet_api(*command, env=env, stdout=stdout, stderr=stderr)

    def ledger(self) -> Ledger:
        """Return all trades of the ledger."""
        with connect(self.url) as connection:
            rows = connection.execute(_TRADES).fetchall()
        assert all(row["event_index"] == 0 for row in rows)
        ledger = {
            (
                *(row["blockchain"], row["address"], row["tx_signature"], row["mint"]),
                "sell" if row["is_sell"] else "buy",
            ): (
                *(plain(row["token_amount"]), plain(row["value"])),
                None if row["value_usd"] is None else plain(row["value_usd"]),
                row["created_at"].astimezone(UTC),
                row["token_name"],
            )
            for row in rows
        }
        assert len(ledger) == len(rows)
        return ledger

    def signatures(self) -> set[str]:
        """Return the transactions of the ledger."""
        return {key[2] for key in self.ledger()}

    def fetch(self, statement: str, *parameters: Any) -> list[Row]:
        """Return the rows of a query."""
        with connect(self.url) as connection:
            return connection.execute(statement, parameters).fetchall()  # type: ignore[arg-type]


@contextmanager
def operator_alone() -> Iterator[tuple[Stub, Operator]]:
    """Run servers with an empty ledger, and a stub of all providers."""
    with ledger_alone() as settings, closing(Stub()) as stub:
        yield stub, Operator(stub, str(settings.database_url))


class Running:
    """A started command, and the summaries it prints."""

    def __init__(self, process: Process[str]) -> None:
        self.process = process
        self._rounds: queue.Queue[Row] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def next_round(self) -> Row:
        return self._rounds.get(timeout=WAIT_SECONDS)

    def until(self, holds: Callable[[Row], bool]) -> Row:
        """Return the first summary for which `holds` is true."""
        while not holds(summary := self.next_round()):
            pass
        return summary

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit status and the standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout=WAIT_SECONDS)
        self._reader.join(WAIT_SECONDS)
        assert self.process.stderr is not None
        return status, self.process.stderr.read()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._rounds.put(json.loads(line))


Start = Callable[..., Running]


def now() -> str:
    """Return a value for --since without past hours. A minute ago may be in the past hour."""
    return datetime.now(UTC).isoformat()


def plain(number: Decimal | str) -> str:
    """Return a number as text without trailing zeros."""
    text = f"{Decimal(number):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def values(ledger: Ledger) -> dict[tuple[str, str, str], tuple[str, str, str | None]]:
    """Return amount, native value and dollars by transaction, mint and side, for a ledger with one wallet."""
    return {key[2:]: trade[:3] for key, trade in ledger.items()}


def addresses(chain: str, count: int) -> list[str]:
    """Return `count` addresses of a chain, always the same ones."""
    make = solana_address if chain == "solana" else evm_address
    return [make(seeded("wallet", number)) for number in range(count)]
