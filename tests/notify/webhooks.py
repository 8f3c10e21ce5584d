"""Webhooks about a ledger to a receiver: in the process of the test, or in one of their own."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, trade_row
from tests.lib.processes import Process as SystemProcess
from tests.lib.processes import run_command, wallet_api
from tests.lib.receiver import SECRET, Receiver
from tests.lib.waiting import eventually
from wallet_api.database import Connection, Database
from wallet_api.notify.process import Process
from wallet_api.notify.rules_file import RulesError, RulesFile
from wallet_api.notify.session import Session
from wallet_api.settings import Settings

NOW = datetime.now(UTC).replace(microsecond=0)
# A rule about all trades.
ALL = '[rules.all]\ntargets = ["bot"]\n'


def trade(signature: str, minutes: float = 60, address: str = ANN, **fields: Any) -> Row:
    """A buy of one token for one SOL, so many minutes ago."""
    return trade_row(address, signature, NOW - timedelta(minutes=minutes), **fields)


def rules_of(url: str, target: str = "", rules: str = ALL) -> str:
    """A target with this address, and rules."""
    return f'[targets.bot]\nurl = "{url}"\nsecrets = ["{SECRET}"]\n{target}{rules}'


def faults_of(file: Path, text: str, *, allow_private: bool = False) -> str:
    """The faults of a file; empty without any."""
    file.write_text(text)
    try:
        RulesFile(file, allow_private=allow_private)
    except RulesError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Webhooks:
    """What sends webhooks by a file of rules, and the ledger and the receiver of the test."""

    settings: Settings
    file: Path
    connection: Connection
    importer: Importer
    receiver: Receiver
    running: ExitStack

    def targets(self, own: str = "", **paths: str) -> str:
        """Targets of the receiver by name, each with its path, by default one; each has `own` settings."""
        return "".join(
            f'[targets.{name}]\nurl = "{self.receiver.url}{path}"\nsecrets = ["{SECRET}"]\n{own}'
            for name, path in (paths or {"bot": "/"}).items()
        )

    def start(self, rules: str, **paths: str) -> None:
        """Begin to send by rules about these targets, in the process of the test."""
        self.start_by(self.targets(**paths) + rules)

    def start_by(self, text: str) -> None:
        """Begin to send by a file with its targets, in the process of the test."""
        self.file.write_text(text)
        stopping, rules = threading.Event(), RulesFile(self.file, allow_private=True)
        session = self.running.enter_context(closing(Session(str(self.settings.database_url))))
        database = self.running.enter_context(closing(Database(self.settings)))
        pool = self.running.enter_context(ThreadPoolExecutor(1))
        following = pool.submit(Process(session, database, rules).run, stopping, from_now=False)
        self.running.callback(following.result)
        self.running.callback(stopping.set)
        self._await_place()

    def start_process(self, rules: str, **paths: str) -> SystemProcess[str]:
        """Start the command, with rules about these targets."""
        self.file.write_text(self.targets(**paths) + rules)
        process = self.command()
        self.running.callback(process.communicate)
        self.running.callback(process.kill)
        assert process.stdout is not None
        assert any("targets" in line for line in process.stdout)
        self._await_place()
        return process

    def command(self, *options: str) -> SystemProcess[str]:
        """Start the command with the file as it is, whether it will run or not."""
        arguments = ("notify", "--rules", str(self.file), "--allow-private", *options)
        return wallet_api(*arguments, settings=self.settings)

    def stop(self) -> None:
        """End what was started."""
        self.running.close()

    def run(self, *arguments: str) -> str:
        """Run another command of `notify`, and return what it prints."""
        return run_command("notify", *arguments, settings=self.settings).output

    def status(self) -> dict[str, Any]:
        """What `notify status --json` prints."""
        result = run_command("notify", "status", "--json", settings=self.settings)
        return dict(json.loads(result.stdout))

    def state(self) -> dict[str, Any]:
        """The state of the target, which is known from its first message on."""
        targets: list[dict[str, Any]] = self.status()["targets"]
        return targets[0] if targets else dict.fromkeys(("refused", "paused_at", "waiting", "dropped"))

    def _await_place(self) -> None:
        """Wait until the feed is followed from a place."""
        assert eventually(lambda: self.connection.execute("SELECT FROM notify_place").rowcount == 1)

    def trades(self, *rows: Row) -> None:
        """Import a file of trades."""
        self.importer.trades(rows)

    def types(self, path: str = "/") -> list[str]:
        """The types of the messages that were accepted."""
        return [one.document["type"] for one in self.receiver.accepted(path)]

    def await_types(self, *types: str, path: str = "/", before: int = 0) -> None:
        """Wait until these are the types of the messages that were accepted after so many."""
        assert eventually(lambda: self.types(path)[before:] == [*types]), self.types(path)

    def await_reported(self, *reported: tuple[str, str], path: str = "/", before: int = 0) -> None:
        """Wait until these types and transactions are all that was accepted after so many messages."""
        found = self.receiver.reported
        assert eventually(lambda: found(path)[before:] == [*reported]), found(path)

    def await_count(self, count: int, path: str = "/") -> None:
        """Wait until so many messages were accepted."""
        assert eventually(lambda: len(self.receiver.accepted(path)) == count), self.types(path)

    def await_state(self, name: str, value: Any) -> None:
        """Wait until a value of the state of the target is this one."""
        assert eventually(lambda: self.state()[name] == value), self.state()

    def await_value(self, query: str, value: Any) -> None:
        """Wait until a query of one value finds this one."""
        assert eventually(lambda: self.connection.fetch_value(query) == value)
