"""Follow a Solana node for a long time with faults: is a trade missed, doubled or wrong, and how late?

    python -m tests.benchmarks.follow_chain [--minutes 30] [--wallets 2000] [--per-second 20] [--logs]
        [--kills] [--calm]

Wallets trade all the time. Notices come late, out of order and twice; one transaction in fifty never becomes
final, and one in fifty comes back in another block before. The websocket is lost each minute, and now and
then silent; one request in fifty fails. With --logs the node has only logsSubscribe, with --kills the
process is killed and started again every minute. A caller follows the feed of the API. At the end the ledger
and what the caller has read have to equal the chain, exactly. Ends with status 0 if so. With --calm nothing
fails, and all notices are sent at once. The delays are those from the node's notice to the API's response,
without the notices of gaps.
"""

import json
import random
import statistics
import sys
import threading
import time

import click
import psutil
from flask import Response

from tests.benchmarks.follow_world import World
from tests.benchmarks.followed import followed, load, shown
from tests.ledger.follower import Follower
from tests.lib.waiting import repeated
from tests.stub import faults
from tests.stub.faults import Scenario
from tests.sync.operator import Operator, addresses, operator_alone, plain

# Far more than is needed, also where others use the machine.
_SETTLE_SECONDS = 900.0
_TIMES = {"FOLLOW_SECONDS": "1", "SYNC_OVERLAP_SECONDS": "30"}
# Wallets whose reading failed are read again after this time.
_TIMES |= {"SYNC_TRADES_SECONDS": "20", "SYNC_THREADS": "8"}
_POLL_SECONDS = 0.2
_SAMPLE_SECONDS = 10
_FAULTS: tuple[Scenario, ...] = (
    faults.status(500),
    faults.status(503, Retry_After="1"),
    faults.status(429),
    faults.status(429, Retry_After="1"),
    faults.status(400),
    faults.raw(b"null"),
    faults.raw(b'{"cursor": null, "result": [{"transact'),
    faults.raw(b"<html>busy</html>", "text/html"),
    faults.close(),
    # Bodies of status 200 from nodes: a transaction that is not there yet, limits, and passing faults.
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
            if "WARNING" in line or "ERROR" in line:
                self.warnings = [*self.warnings[-19:], line.rstrip()]


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
@click.option("--wallets", default=2000, show_default=True)
@click.option("--per-second", default=20.0, show_default=True, help="Transactions of all wallets together.")
@click.option("--logs", is_flag=True, help="Let the node have only logsSubscribe.")
@click.option("--kills", is_flag=True, help="Kill and start it again every minute.")
@click.option("--calm", is_flag=True, help="Let nothing fail.")
def main(minutes: float, wallets: int, per_second: float, logs: bool, kills: bool, calm: bool) -> None:
    """Soak, and judge."""
    with operator_alone() as (stub, operator), followed(operator, "solana") as follower:
        operator.environment |= stub.node_environment | {"FOLLOW_SUBSCRIPTIONS": f"{wallets}"}
        del operator.environment["MORALIS_API_KEY"]
        world = World(stub, addresses("solana", wallets), random.Random(5), calm)
        operator.track(*(("solana", wallet) for wallet in world.wallets))
        if logs:
            stub.stream.methods.remove("transactionSubscribe")
            stub.stream.most = 2 * wallets
        command = Command(operator)
        try:
            _live(world, follower, command, minutes * 60, per_second, kills)
            sound = _settled(world, operator, follower)
        finally:
            command.process.terminate()
            status = command.process.wait(timeout=60)
    _say_delays(world)
    _say_memory(command.memory, is_one_process=not kills)
    if not sound:
        click.echo("\n".join(["The last warnings:", *command.warnings]))
    click.echo(f"exit status {status}")
    sys.exit(0 if sound and status == 0 else 1)


def _live(
    world: World, follower: Follower, command: Command, seconds: float, per_second: float, kills: bool
) -> None:
    """Let the chain go on for so long, and let things fail."""
    chance, stream = random.Random(6), world.stub.stream

    def fault() -> Response | None:
        return chance.choice(_FAULTS)() if chance.random() < 1 / 50 else None

    while len(stream.followed) < len(world.wallets):
        time.sleep(0.5)
    world.stub.scenarios = {} if world.is_calm else {"rpc": fault}
    with repeated(lambda: _watch(world, follower), _POLL_SECONDS):
        _go_on(world, command, seconds, per_second, kills)
        time.sleep(2)


def _go_on(world: World, command: Command, seconds: float, per_second: float, kills: bool) -> None:
    chance, stream = random.Random(6), world.stub.stream
    began = time.monotonic()
    ticks = {"sample": 0.0, "minute": 60.0, "kill": 30.0}
    while (moment := time.monotonic() - began) < seconds:
        for _ in range(int(per_second / 20 + chance.random())):
            world.trade(moment)
        world.go_on(moment)
        if moment > ticks["sample"]:
            ticks["sample"] = moment + _SAMPLE_SECONDS
            command.sample()
        if moment > ticks["minute"]:
            ticks["minute"] = moment + 60
            click.echo(
                f"{moment:6.0f} s: {world.count} trades, {len(world.delays)} arrived, {command.memory[-1]} kB"
            )
            if not world.is_calm:
                stream.drop()
                world.lose()
        if kills and moment > ticks["kill"]:
            ticks["kill"] = moment + chance.uniform(20, 100)
            command.kill()
            world.lose()
            command.start()
        # Silent for longer than the command waits for a slot, each third minute.
        was_silent, stream.is_silent = stream.is_silent, not world.is_calm and 100 < moment % 180 < 125
        if was_silent < stream.is_silent:
            world.lose()
        time.sleep(0.05)
    stream.is_silent = False
    world.stub.scenarios = {}


def _watch(world: World, follower: Follower) -> None:
    """Read the feed, and note which transactions are new in it."""
    for change in follower.read():
        world.arrived(change["tx_signature"])


def _settled(world: World, operator: Operator, follower: Follower) -> bool:
    """Wait until the ledger equals the chain, and say what does not; so for what the caller has read."""
    began = time.monotonic()
    while True:
        world.go_on(float("inf"))
        ledger = {
            (key[1], key[2]): (trade[0], trade[1], trade[3].timestamp())
            for key, trade in operator.ledger().items()
        }
        if ledger == world.expected or time.monotonic() > began + _SETTLE_SECONDS:
            break
        time.sleep(1)
    missing, more = world.expected.keys() - ledger.keys(), ledger.keys() - world.expected.keys()
    other = [key for key in world.expected.keys() & ledger.keys() if world.expected[key] != ledger[key]]
    click.echo(
        f"{len(world.expected)} trades, {world.lost} not final, {world.moved} in another block:"
        f" {len(missing)} missing, {len(more)} that the chain does not have, {len(other)} with another value,"
        f" {time.monotonic() - began:.0f} s after the last one"
    )
    follow = operator.fetch("SELECT name, label, total, last FROM sync_report WHERE name ~ '^watch_'")
    click.echo(json.dumps(follow))
    for key in [*missing, *more, *other][:5]:
        click.echo(f"  {key}: expected {world.expected.get(key)}, found {ledger.get(key)}")
    return _has_read(world, follower) and ledger == world.expected


def _has_read(world: World, follower: Follower) -> bool:
    """Say whether a caller that followed the feed has the trades of the chain."""
    follower.read()
    read = {
        (wallet, signature): (plain(trade["token_amount"]), plain(trade["value"]))
        for (wallet, signature, *_), trade in follower.trades.items()
    }
    wrong = {key for key, _ in read.items() ^ {(key, one[:2]) for key, one in world.expected.items()}}
    click.echo(
        f"a follower of the API: {len(read)} trades of {len(follower.changes)} changes, {len(wrong)} wrong"
    )
    return not wrong and len(read) == len(follower.trades)


def _say_delays(world: World) -> None:
    click.echo(
        f"{len(world.delays)} notices: in the API {shown(world.delays)}, all {max(world.delays):.1f} s;"
        f" beside {world.in_gaps} of gaps; {load()}"
    )


def _say_memory(memory: list[int], *, is_one_process: bool) -> None:
    click.echo(f"memory {memory[0]} kB at first, {max(memory)} at most, {memory[-1]} at last")
    later = memory[len(memory) // 2 :]
    if is_one_process:
        (slope, _) = statistics.linear_regression(range(len(later)), later)
        click.echo(f"{slope * 3600 / _SAMPLE_SECONDS:+.0f} kB an hour in the second half")


if __name__ == "__main__":
    main()
