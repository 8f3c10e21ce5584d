"""Follow a chain of 200 ms blocks: how many requests, and how late is a trade?

    python -m tests.benchmarks.follow_blocks [--minutes 3] [--wallets 1000] [--trades-a-day 5000] [--day]

The wallets trade all the time. A caller reads the feed of the API. The delay is that from the time of a block
to the response that has its trade. With --day, the chain has a day of blocks already: how many requests its
reading takes, and how long at four a second.
"""

import itertools
import random
import subprocess
import time
from datetime import UTC, datetime, timedelta

import click

from tests.benchmarks.followed import followed, load, shown
from tests.ledger.follower import Follower
from tests.lib.waiting import repeated
from tests.stub.evm import Block, EvmChain
from tests.stub.server import Stub
from tests.sync.evm_trades import WRAPPED, begin, buy, signature
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
        tracked = addresses("base", wallets)
        chain = begin(stub, operator, "base", *tracked)
        chain.milliseconds = "timestampMs"
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
    places, began_to_live = itertools.count(1), time.monotonic()

    def live() -> None:
        place, trades = next(places), []
        if chance.random() < trades_a_day * _BLOCK_SECONDS / 86_400:
            trades.append(buy(place, wallet=chance.choice(tracked), wrapped=WRAPPED["base"]))
            at[signature(place)] = time.time()
        chain.add(datetime.now(UTC), *trades)
        time.sleep(max(0.0, began_to_live + place * _BLOCK_SECONDS - time.monotonic()))

    def read() -> None:
        for change in follower.read():
            sent = at.get(change["tx_signature"])
            if sent is not None:
                delays.append(time.time() - sent)

    own = {"FOLLOW_SECONDS": f"{every}", "SYNC_RPC_REQUESTS_PER_SECOND": f"{_RATE}"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with repeated(live):
        process = operator.start("trades", "--follow", "--since", began.isoformat(), **quiet, **own)
        time.sleep(_WARM_SECONDS)
        with repeated(read, _POLL_SECONDS):
            count[0], started, warm = 0, time.monotonic(), set(at)
            time.sleep(seconds)
            sent, passed = count[0], time.monotonic() - started
            time.sleep(3)
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
