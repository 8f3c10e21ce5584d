"""Follow a chain of 200 ms blocks: how many requests, and how late is a trade?

    python -m tests.benchmarks.follow_blocks [--minutes 3] [--wallets 1000] [--trades-a-day 5000] [--day]

The wallets trade all the time. A caller reads the feed of the API. The delay is that from the time of a block
to the response that has its trade. With --day, the chain has a day of blocks already: how many requests its
reading takes, and how long at four a second.
"""

import random
import threading
import time
from datetime import UTC, datetime, timedelta

import click

from tests.benchmarks.followed import followed, load, shown
from tests.ledger.follower import Follower
from tests.stub.evm import Block, EvmChain
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, WRAPPED, buy, signature
from tests.sync.operator import Operator, addresses, operator_alone

_BLOCK_SECONDS = 0.2
_POLL_SECONDS = 0.05
_WARM_SECONDS = 10
_RATE = 4


@click.command()
@click.option("--minutes", default=3.0, show_default=True)
@click.option("--wallets", default=1000, show_default=True)
@click.option("--trades-a-day", default=5000, show_default=True, help="Of all wallets together.")
@click.option("--every", default=1.0, show_default=True, help="FOLLOW_SECONDS.")
@click.option("--day", is_flag=True, help="Read a day of blocks instead.")
def main(minutes: float, wallets: int, trades_a_day: int, every: float, day: bool) -> None:
    """Measure."""
    with operator_alone() as (stub, operator):
        operator.environment |= stub.evm_environment("base")
        del operator.environment["MORALIS_API_KEY"]
        tracked = addresses("base", wallets)
        operator.track(*(("base", wallet) for wallet in tracked))
        chain = stub.nodes.blocks["base"] = EvmChain(decimals={CAT: 6}, milliseconds="timestampMs")
        count = _requests(stub)
        if day:
            _read_day(operator, chain, tracked, trades_a_day, count)
            return
        with followed(operator, "base") as follower:
            _follow(operator, chain, tracked, trades_a_day, follower, count, minutes * 60, every)


def _requests(stub: Stub) -> list[int]:
    """Count the requests to the node, of which a batch is one."""
    count = [0]

    def one() -> None:
        count[0] += 1

    stub.scenarios["rpc"] = one
    return count


def _follow(
    operator: Operator,
    chain: EvmChain,
    tracked: list[str],
    trades_a_day: int,
    follower: Follower,
    count: list[int],
    seconds: float,
    every: float,
) -> None:
    chance = random.Random(5)
    began = datetime.now(UTC)
    # An hour of blocks before.
    chain.blocks += [Block(began - timedelta(seconds=_BLOCK_SECONDS * n)) for n in range(18_000, 0, -1)]
    at: dict[str, float] = {}
    delays: list[float] = []
    ended = threading.Event()

    def live() -> None:
        started = time.monotonic()
        for place in range(1, 10**9):
            if ended.is_set():
                return
            trades = []
            if chance.random() < trades_a_day * _BLOCK_SECONDS / 86_400:
                trades.append(buy(place, wallet=chance.choice(tracked), wrapped=WRAPPED["base"]))
                at[signature(place)] = time.time()
            chain.add(datetime.now(UTC), *trades)
            time.sleep(max(0.0, started + place * _BLOCK_SECONDS - time.monotonic()))

    def read() -> None:
        while not ended.wait(_POLL_SECONDS):
            for change in follower.read():
                sent = at.get(change["tx_signature"])
                if sent is not None:
                    delays.append(time.time() - sent)

    threads = [threading.Thread(target=each, daemon=True) for each in (live, read)]
    threads[0].start()
    options = ("trades", "--json", "--follow", "--since", began.isoformat())
    process = operator.start(*options, FOLLOW_SECONDS=f"{every}", SYNC_RPC_REQUESTS_PER_SECOND=f"{_RATE}")
    for stream in (process.stdout, process.stderr):
        threading.Thread(target=stream.read, daemon=True).start()  # type: ignore[union-attr]
    time.sleep(_WARM_SECONDS)
    threads[1].start()
    count[0], started, warm = 0, time.monotonic(), set(at)
    time.sleep(seconds)
    sent, passed = count[0], time.monotonic() - started
    time.sleep(3)
    ended.set()
    for thread in threads:
        thread.join()
    process.terminate()
    process.wait(60)
    for line in operator.fetch("SELECT label, total FROM sync_report WHERE name IN ('calls', 'rounds')"):
        click.echo(f"{line['label']}: {line['total']:g}")
    click.echo(
        f"{len(delays)} of {len(at.keys() - warm)} trades; {sent / passed:.2f} requests a second;"
        f" from block to response {shown(delays)}; {load()}"
    )


def _read_day(
    operator: Operator, chain: EvmChain, tracked: list[str], trades_a_day: int, count: list[int]
) -> None:
    chance = random.Random(5)
    blocks = int(86_400 / _BLOCK_SECONDS)
    began = datetime.now(UTC) - timedelta(days=1)
    chain.state_blocks = 1
    traded = set(chance.sample(range(blocks), trades_a_day))
    for place in range(blocks):
        trades = (
            [buy(place, wallet=chance.choice(tracked), wrapped=WRAPPED["base"])] if place in traded else []
        )
        chain.add(began + timedelta(seconds=_BLOCK_SECONDS * place), *trades)
    done = operator.sync("trades", "--since", began.isoformat()).only
    click.echo(
        f"{blocks} blocks, {done['changed']} of {trades_a_day} trades: {count[0]} requests,"
        f" {count[0] / _RATE / 60:.1f} minutes at {_RATE} a second; it took {done['seconds']} s"
    )


if __name__ == "__main__":
    main()
