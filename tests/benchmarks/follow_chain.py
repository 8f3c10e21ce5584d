"""Follow a Solana node for a long time with faults: is a trade missed, doubled or wrong, and how late?

    python -m tests.benchmarks.follow_chain [--minutes 30] [--wallets 2000] [--per-second 20] [--logs]
        [--kills] [--calm]

Wallets trade all the time. Notices come late, out of order and twice; one transaction in fifty is never
finalized, and one in fifty comes back in another block. The websocket is lost each minute, and now and then
silent; one request in fifty fails. With --logs the node has only logsSubscribe, with --kills the process is
killed and started again every minute. At the end the ledger has to equal the chain, exactly. Ends with
status 0 if so. With --calm nothing fails, and all notices are sent at once. The delays are those from the
node's notice to the ledger.
"""

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field, replace

import click
import psutil
from flask import Response

from tests.benchmarks.sync_soak import FAULTS, NODE_FAULTS
from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.stub.transactions import now
from tests.sync.operator import Operator, addresses, plain
from tests.sync.solana import buy
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.settings import Settings

_FINAL_AFTER = 3.0
_SETTLE_SECONDS = 120.0
_TIMES = {"FOLLOW_SECONDS": "1", "FOLLOW_FINAL_SECONDS": "40", "SYNC_OVERLAP_SECONDS": "30"}
# Wallets whose reading failed are read again after this time.
_TIMES |= {"SYNC_TRADES_SECONDS": "20", "SYNC_THREADS": "8"}
_LANDED = "SELECT tx_signature FROM trades WHERE tx_signature = ANY(%s)"

Trade = tuple[str, str, float]


@dataclass
class World:
    """What wallets do on the chain, and which of it is final."""

    stub: Stub
    wallets: list[str]
    chance: random.Random
    is_calm: bool = False
    expected: dict[tuple[str, str], Trade] = field(default_factory=dict)
    count: int = 0
    lost: int = 0
    moved: int = 0
    # When which transaction is finalized, and when which notice is sent.
    final_at: list[tuple[float, str, str]] = field(default_factory=list)
    notices: list[tuple[float, str, str, Row, int]] = field(default_factory=list)
    # The times of notices of transactions that have not arrived yet.
    sent: dict[str, float] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)

    def trade(self, moment: float) -> None:
        """Confirm a transaction of some wallet."""
        self.count += 1
        signature, wallet = f"T{self.count}", self.chance.choice(self.wallets)
        told = self._told(wallet)
        self.stub.transactions.unfinal.add(signature)
        self.stub.transactions.add(wallet, signature, told)
        self._expect(wallet, signature, told)
        late = 0.0 if self.is_calm else self.chance.choice((0.0, 0.0, 0.0, self.chance.uniform(0, 2)))
        self.notices.append((moment + late, wallet, signature, told, self.chance.choice((1, 1, 1, 2))))
        self.final_at.append((moment + _FINAL_AFTER, wallet, signature))

    def go_on(self, moment: float) -> None:
        """Send the notices that are due, and decide what becomes of the transactions that are old enough."""
        for notice in [notice for notice in self.notices if notice[0] <= moment]:
            self.notices.remove(notice)
            _, wallet, signature, told, times = notice
            if not self.stub.stream.is_silent and self.stub.stream.connections:
                self.sent[signature] = time.monotonic()
            self.stub.stream.notify([wallet], signature, told, times)
        for due in [due for due in self.final_at if due[0] <= moment]:
            self.final_at.remove(due)
            self._finalize(*due[1:])

    def landed(self, signatures: list[str]) -> None:
        """Note the delays of transactions that are in the ledger."""
        for signature in signatures:
            sent = self.sent.pop(signature, None)
            if sent is not None:
                self.delays.append(time.monotonic() - sent)

    def _finalize(self, wallet: str, signature: str) -> None:
        fate = 1.0 if self.is_calm else self.chance.random()
        if fate < 0.04:
            self.stub.transactions.drop(signature)
            self.sent.pop(signature, None)
            del self.expected[wallet, signature]
            self.lost += 1
        if fate < 0.02:
            told = self._told(wallet)
            self.stub.transactions.add(wallet, signature, told)
            self._expect(wallet, signature, told)
            self.moved += 1
        self.stub.transactions.unfinal.discard(signature)

    def _told(self, wallet: str) -> Row:
        return buy(now(), self.chance.randint(1, 10**9), self.chance.randint(10**6, 10**10), wallet)

    def _expect(self, wallet: str, signature: str, told: Row) -> None:
        meta = told["meta"]
        lamports = meta["preBalances"][0] - meta["postBalances"][0] - meta["fee"]
        (units,) = (
            int(after["uiTokenAmount"]["amount"]) - int(before["uiTokenAmount"]["amount"])
            for before, after in zip(meta["preTokenBalances"], meta["postTokenBalances"], strict=True)
            if after["owner"] == wallet
        )
        trade = (plain(f"{units}e-6"), plain(f"{lamports}e-9"), told["blockTime"])
        self.expected[wallet, signature] = trade


class Command:
    """The command, started again when it is killed; its memory, and its last warnings."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.memory: list[int] = []
        self.warnings: list[str] = []
        self.start()

    def start(self) -> None:
        self.process = self._operator.start("trades", "--json", "--follow", "--since", "10m", **_TIMES)
        for stream in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self._drain, args=(stream,), daemon=True).start()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def sample(self) -> None:
        self.memory.append(psutil.Process(self.process.pid).memory_full_info().uss // 1024)

    def _drain(self, stream) -> None:  # type: ignore[no-untyped-def]
        for line in stream:
            if b"WARNING" in line or b"ERROR" in line:
                self.warnings = [*self.warnings[-19:], line.decode().rstrip()]


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
@click.option("--wallets", default=2000, show_default=True)
@click.option("--per-second", default=20.0, show_default=True, help="Transactions of all wallets together.")
@click.option("--logs", is_flag=True, help="Let the node have only logsSubscribe.")
@click.option("--kills", is_flag=True, help="Kill and start it again every minute.")
@click.option("--calm", is_flag=True, help="Let nothing fail.")
def main(minutes: float, wallets: int, per_second: float, logs: bool, kills: bool, calm: bool) -> None:
    """Soak, and judge."""
    with tempfile.TemporaryDirectory(prefix="wallet-api-soak-") as home:
        own = replace(Settings.from_environment(), wallet_api_home=home)
        with embedded.running(own) as settings, closing(Stub()) as stub:
            with connect(str(settings.database_url)) as connection:
                migrations.migrate(connection)
            operator = Operator(stub, str(settings.database_url))
            operator.environment |= stub.node_environment | {"FOLLOW_SUBSCRIPTIONS": f"{wallets}"}
            del operator.environment["MORALIS_API_KEY"]
            world = World(stub, list(addresses("solana", wallets)), random.Random(5), calm)
            operator.track(*(("solana", wallet) for wallet in world.wallets))
            if logs:
                stub.stream.methods.remove("transactionSubscribe")
                stub.stream.most = 2 * wallets
            command = Command(operator)
            try:
                _live(world, operator, command, minutes * 60, per_second, kills)
                sound = _settled(world, operator)
            finally:
                command.process.terminate()
                status = command.process.wait(timeout=60)
    _say_delays(world.delays)
    memory = command.memory
    click.echo(
        f"memory {memory[0]} kB at first, {max(memory)} at most, {memory[-1]} at last; exit status {status}"
    )
    if not sound:
        click.echo("\n".join(["The last warnings:", *command.warnings]))
    sys.exit(0 if sound and status == 0 else 1)


def _live(
    world: World, operator: Operator, command: Command, seconds: float, per_second: float, kills: bool
) -> None:
    """Let the chain go on for so long, and let things fail."""
    chance, stream = random.Random(6), world.stub.stream

    def fault() -> Response | None:
        return chance.choice((*FAULTS, *NODE_FAULTS))() if chance.random() < 1 / 50 else None

    while len(stream.followed) < len(world.wallets):
        time.sleep(0.5)
    world.stub.scenarios = {} if world.is_calm else {"rpc": fault}
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(world, operator, ended), daemon=True)
    watch.start()
    began = time.monotonic()
    ticks = dict.fromkeys(("sample", "minute", "second"), 0.0)
    ticks["minute"] = 60.0
    while (moment := time.monotonic() - began) < seconds:
        for _ in range(int(per_second / 20 + chance.random())):
            world.trade(moment)
        world.go_on(moment)
        if moment > ticks["sample"]:
            ticks["sample"] = moment + 10
            command.sample()
        if moment > ticks["minute"]:
            ticks["minute"] = moment + 60
            click.echo(
                f"{moment:6.0f} s: {world.count} trades, {len(world.delays)} arrived, {command.memory[-1]} kB"
            )
            if not world.is_calm:
                stream.drop()
            if kills:
                command.kill()
                command.start()
        # Silent for longer than the command waits for a slot, each third minute.
        stream.is_silent = not world.is_calm and 100 < moment % 180 < 125
        time.sleep(0.05)
    stream.is_silent = False
    world.stub.scenarios = {}
    time.sleep(2)
    ended.set()
    watch.join()


def _watch(world: World, operator: Operator, ended: threading.Event) -> None:
    """Look again and again which transactions are in the ledger."""
    with connect(operator.url) as connection:
        while not ended.wait(0.1):
            rows = connection.execute(_LANDED, [list(world.sent)]).fetchall()
            world.landed([row["tx_signature"] for row in rows])


def _settled(world: World, operator: Operator) -> bool:
    """Wait until the ledger equals the chain, and say what does not."""
    ends = time.monotonic() + _SETTLE_SECONDS
    while True:
        world.go_on(float("inf"))
        ledger = {
            (key[1], key[2]): (trade[0], trade[1], trade[3].timestamp())
            for key, trade in operator.ledger().items()
        }
        if ledger == world.expected or time.monotonic() > ends:
            break
        time.sleep(1)
    missing, more = world.expected.keys() - ledger.keys(), ledger.keys() - world.expected.keys()
    other = [key for key in world.expected.keys() & ledger.keys() if world.expected[key] != ledger[key]]
    follow = operator.fetch("SELECT method, followed, reconnects, gaps FROM sync_follows")
    click.echo(
        f"{len(world.expected)} trades, {world.lost} not finalized, {world.moved} of these in another block:"
        f" {len(missing)} missing, {len(more)} that the chain does not have, {len(other)} with another value"
    )
    click.echo(json.dumps(follow))
    for key in [*missing, *more, *other][:5]:
        click.echo(f"  {key}: expected {world.expected.get(key)}, found {ledger.get(key)}")
    return ledger == world.expected


def _say_delays(delays: list[float]) -> None:
    parts = statistics.quantiles(delays, n=100)
    click.echo(
        f"{len(delays)} notices: half in the ledger within {parts[49]:.2f} s, 90 % {parts[89]:.2f} s,"
        f" 99 % {parts[98]:.2f} s, all {max(delays):.1f} s"
    )


if __name__ == "__main__":
    main()
