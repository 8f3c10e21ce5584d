"""Both syncs for a long time with faults: is a trade missed or doubled, and does memory stay flat?

    python -m tests.benchmarks.sync_soak [--minutes 30] [--wallets 40] [--every 5] [--kills] [--node]

Wallets trade all the time, and the provider tells some of it late, in pieces and out of order; one call in
twelve fails in one of many ways, and now and then the database drops the session. With --kills the
process is also killed and started again every minute, and its memory then says nothing. With --node
Solana's trades come from a node, with faults of its own. At the end
the ledger has to equal what was made up, exactly. Ends with status 0 if so, and if memory stayed flat.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import click
import psutil
from flask import Response

from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.sync.operator import Operator
from tests.sync.worlds import World, make_world
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.settings import Settings

# In kilobytes an hour, above which memory is called growing; the noise of short runs is larger than that.
_GROWTH = 4096
_SETTLE_SECONDS = 300.0
FAULTS: tuple[Scenario, ...] = (
    faults.status(500),
    faults.status(503, Retry_After="1"),
    faults.status(429),
    faults.status(429, Retry_After="1"),
    faults.status(400),
    faults.raw(b"null"),
    faults.raw(b'{"cursor": null, "result": [{"transact'),
    faults.raw(b"<html>busy</html>", "text/html"),
    faults.close(),
)
# Bodies of status 200 from nodes: a transaction that is not there yet, limits, and passing faults.
NODE_FAULTS: tuple[Scenario, ...] = (
    faults.raw(b'{"jsonrpc": "2.0", "id": 0, "result": null}'),
    faults.rpc_error(429, "Too many requests for a specific RPC call"),
    faults.rpc_error(-32429, "rate limited"),
    faults.rpc_error(-32007, "50/second request limit reached"),
    faults.rpc_error(-32005, "Node is behind by 200 slots"),
    faults.rpc_error(-32016, "over rate limit"),
    faults.rpc_error(-32004, "Block not available for slot 5"),
    faults.rpc_error(-32009, "Slot 5 was skipped, or missing in long-term storage"),
    faults.rpc_error(-32014, "Block status not yet available for slot 5"),
    faults.rpc_error(-32019, "Failed to query long-term storage"),
)


@dataclass
class Sync:
    """One of the two commands, its rounds so far, and the memory of its process."""

    operator: Operator
    job: str
    every: float
    rounds: int = 0
    failed: int = 0
    process: "subprocess.Popen[bytes] | None" = None
    memory: list[tuple[float, int]] = field(default_factory=list)
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=20))

    def start(self) -> None:
        """Start it, and count what it prints."""
        options = ("--json", "--every", f"{self.every:g}")
        # A short overlap: what is read again each round soon stops growing, so that a leak would show.
        limits = {"SYNC_REQUESTS_PER_SECOND": "100", "SYNC_OVERLAP_SECONDS": "150"}
        self.process = self.operator.start(self.job, *options, **limits)
        for stream in (self._count, self._drain):
            threading.Thread(target=stream, args=(self.process,), daemon=True).start()

    def sample(self, now: float) -> None:
        """Note the memory that it has to itself."""
        assert self.process is not None
        self.memory.append((now, psutil.Process(self.process.pid).memory_full_info().uss // 1024))

    def kill(self) -> None:
        """Kill it without a word."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as a supervisor would; its exit status."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(timeout=60)

    def _count(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            summary = json.loads(line)
            self.rounds += 1
            self.failed += summary.get("failed", 0)

    def _drain(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if b"WARNING" in line:
                self.warnings.append(line.decode().rstrip())
            else:
                click.echo(f"{self.job}: {line.decode().rstrip()}", err=True)


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
@click.option("--wallets", default=40, show_default=True)
@click.option("--every", default=5.0, show_default=True)
@click.option("--per-second", default=3.0, show_default=True, help="Transactions of all wallets together.")
@click.option("--kills", is_flag=True, help="Kill and start it again every minute.")
@click.option("--node", is_flag=True, help="Read Solana's trades from a node.")
def main(minutes: float, wallets: int, every: float, per_second: float, kills: bool, node: bool) -> None:
    """Soak, and judge."""
    with tempfile.TemporaryDirectory(prefix="wallet-api-soak-") as home:
        own = replace(Settings.from_environment(), wallet_api_home=home)
        with embedded.running(own) as settings, closing(Stub()) as stub:
            stub.swaps.page_rows = 20
            with connect(str(settings.database_url)) as connection:
                migrations.migrate(connection)
            operator = Operator(stub, str(settings.database_url))
            if node:
                operator.environment |= stub.node_environment
            world = make_world(stub, wallets, transactions=30, on_node=node)
            operator.track(*world.wallets)
            syncs = [Sync(operator, job, every) for job in ("prices", "trades")]
            for sync in syncs:
                sync.start()
            try:
                _live(world, operator, syncs, minutes * 60, per_second, kills)
                sound = _settled(world, operator)
            finally:
                statuses = [sync.stop() for sync in syncs]
    flat = kills or _judge(syncs)
    click.echo(f"exit statuses after SIGTERM: {statuses}")
    sys.exit(0 if sound and flat and not any(statuses) else 1)


def _live(
    world: World, operator: Operator, syncs: list[Sync], seconds: float, per_second: float, kills: bool
) -> None:
    """Let the world go on for so long, and let things fail."""
    chance = random.Random(11)

    def fault() -> Response | None:
        return chance.choice(FAULTS)() if chance.random() < 1 / 12 else None

    def node_fault() -> Response | None:
        return chance.choice((*FAULTS, *NODE_FAULTS))() if chance.random() < 1 / 12 else None

    world.stub.scenarios = dict.fromkeys(("moralis", "coingecko", "binance"), fault) | {"rpc": node_fault}
    began = time.monotonic()
    waiting: list[tuple[float, tuple[str, str], Row]] = []
    every_minute = _ticks(60.0)
    every_ten = _ticks(10.0)
    while (now := time.monotonic() - began) < seconds:
        for _ in range(round(per_second * 0.5 + chance.random() - 0.5)):
            wallet = chance.choice(world.wallets)
            for row in world.transaction(wallet, datetime.now(UTC).replace(microsecond=0)):
                # Most is told at once; of some transactions one row comes a minute after the other.
                late = chance.choice((0.0, 0.0, 0.0, chance.uniform(0, 90)))
                waiting.append((now + late, wallet, row))
        for due, wallet, row in list(waiting):
            if due <= now:
                world.stub.swaps.add(*wallet, row)
                waiting.remove((due, wallet, row))
        if every_ten(now):
            for sync in syncs:
                sync.sample(now)
        if every_minute(now):
            _say(now, world, syncs)
            operator.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE 'wallet-api sync%%' AND random() < 0.2"
            )
            for sync in syncs if kills else ():
                sync.kill()
                sync.start()
        time.sleep(0.5)
    world.stub.scenarios = {}
    for _, wallet, row in waiting:
        world.stub.swaps.add(*wallet, row)


def _settled(world: World, operator: Operator) -> bool:
    """Whether, once nothing fails any more, the ledger comes to equal the world."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while (ledger := operator.ledger()) != world.expected and time.monotonic() < deadline:
        time.sleep(1)
    missed = world.expected.keys() - ledger.keys()
    extra = ledger.keys() - world.expected.keys()
    wrong = [key for key in ledger.keys() & world.expected.keys() if ledger[key] != world.expected[key]]
    click.echo(
        f"ledger: {len(ledger)} trades; {len(missed)} missed, {len(extra)} that never were,"
        f" {len(wrong)} with other values"
    )
    return not (missed or extra or wrong)


def _judge(syncs: list[Sync]) -> bool:
    """Whether the second half of the run used no more memory than the first, as a line through it tells."""
    flat = True
    for sync in syncs:
        half = [(at, kilobytes) for at, kilobytes in sync.memory if at >= sync.memory[-1][0] / 2]
        if len(half) < 6:
            click.echo(f"{sync.job}: too short a run to speak of memory")
            continue
        slope = statistics.linear_regression(*zip(*half, strict=True)).slope * 3600
        sizes = [kilobytes for _, kilobytes in sync.memory]
        click.echo(
            f"{sync.job}: {sync.rounds} rounds, {sync.failed} times a wallet failed; memory {sizes[0]} kB"
            f" at first, {max(sizes)} at most, {sizes[-1]} at last; second half {slope:+.0f} kB an hour"
        )
        flat &= slope < _GROWTH
    return flat


def _ticks(seconds: float) -> Callable[[float], bool]:
    due = seconds

    def passed(now: float) -> bool:
        nonlocal due
        if now < due:
            return False
        due += seconds
        return True

    return passed


def _say(now: float, world: World, syncs: list[Sync]) -> None:
    parts: list[Any] = [f"{now / 60:5.1f} min: {len(world.expected)} trades made up"]
    parts += [f"{s.job} {s.rounds} rounds, {s.memory[-1][1]} kB" for s in syncs if s.memory]
    click.echo("; ".join(parts))


if __name__ == "__main__":
    main()
