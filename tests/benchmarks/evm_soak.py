"""The sync of three EVM chains from nodes for a long time with faults: is a trade missed, doubled or wrong?

    python -m tests.benchmarks.evm_soak [--minutes 30] [--wallets 40] [--every 3] [--kills]

Wallets trade all the time. Chains are reorganised, 1 to 5 blocks deep: half of the transactions come back in
other blocks, a quarter later, a quarter never. Nodes have narrow limits, are behind or say that they are
not, and have no state for a while; one request in twelve fails. At the end the ledger has to equal the
chains, exactly. Ends with status 0 if so.
"""

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import click
from flask import Response

from tests.benchmarks.sync_soak import FAULTS, NODE_FAULTS, Sync
from tests.stub.evm import Block, EvmChain, Transaction
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, ETH, WRAPPED, buy, sell
from tests.sync.operator import Operator, operator_alone, plain

_SETTLE_SECONDS = 120.0
_BLOCK_SECONDS = {"eth": 2.0, "base": 1.0, "bnb": 0.5}
_LIMITS = {
    "eth": {"most_topics": 20, "most_blocks": 50, "most_logs": 60},
    "base": {"has_traces": True, "too_wide": (-32000, "block range too large")},
    "bnb": {"has_block_receipts": False, "most_blocks": 700},
}


@dataclass
class World:
    """The chains, and what wallets do on them."""

    stub: Stub
    wallets: list[str]
    chance: random.Random
    numbers: int = 0
    reorganisations: int = 0
    waiting: list[tuple[str, Transaction]] = field(default_factory=list)

    def grow(self, name: str, chain: EvmChain) -> None:
        """Append a block with some trades, and those that a reorganisation has delayed."""
        late = [one for chain_name, one in self.waiting if chain_name == name and self.chance.random() < 0.2]
        self.waiting = [(chain_name, one) for chain_name, one in self.waiting if one not in late]
        chain.add(
            datetime.now(UTC).replace(microsecond=0), *late, *(self._trade(name) for _ in range(self._few()))
        )

    def reorganise(self, name: str, chain: EvmChain) -> None:
        """Replace the newest blocks."""
        depth = self.chance.randint(1, min(5, len(chain.blocks) - 1))
        old = chain.blocks[-depth:]
        blocks = [Block(block.created_at) for block in old]
        for one in [one for block in old for one in block.transactions]:
            fate = self.chance.random()
            if fate < 0.5:
                self.chance.choice(blocks).transactions.append(one)
            elif fate < 0.75:
                self.waiting.append((name, one))
        chain.reorganise(depth, blocks)
        self.reorganisations += 1

    def expected(self) -> dict[tuple[str, str, str, str], tuple[str, str, datetime]]:
        """Return the trades of the chains as they are: amount, value and time."""
        return {
            (name, one.receipt["from"], one.hash, "sell" if one.value == 0 else "buy"): (
                plain(one.amount.scaleb(-6)),
                plain(one.coin.scaleb(-18)),
                block.created_at,
            )
            for name, chain in self.stub.nodes.blocks.items()
            for block in chain.blocks
            for one in block.transactions
        }

    def _few(self) -> int:
        return self.chance.choice((0, 0, 0, 1, 1, 2, 6))

    def _trade(self, name: str) -> Transaction:
        self.numbers += 1
        wallet = self.chance.choice(self.wallets)
        make = self.chance.choice((buy, sell))
        units, coin = self.chance.randint(1, 10**9), self.chance.randint(ETH // 1000, 5 * ETH)
        return make(self.numbers, units, coin, wallet=wallet, wrapped=WRAPPED[name])


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
@click.option("--wallets", default=40, show_default=True)
@click.option("--every", default=3.0, show_default=True)
@click.option("--kills", is_flag=True, help="Kill and start it again every minute.")
def main(minutes: float, wallets: int, every: float, kills: bool) -> None:
    """Soak, and judge."""
    with operator_alone() as (stub, operator):
        operator.environment |= stub.evm_environment(*_BLOCK_SECONDS)
        del operator.environment["MORALIS_API_KEY"]
        world = World(stub, [f"0x{number + 0xABC000:040x}" for number in range(wallets)], random.Random(7))
        for name, limits in _LIMITS.items():
            stub.nodes.blocks[name] = EvmChain(decimals={CAT: 6}, **limits)  # type: ignore[arg-type]
            stub.nodes.blocks[name].add(datetime.now(UTC) - timedelta(minutes=1))
            operator.track(*((name, wallet) for wallet in world.wallets))
        sync = Sync(operator, "trades", every)
        sync.start()
        try:
            _live(world, operator, sync, minutes * 60, kills)
            sound = _settled(world, operator)
        finally:
            status = sync.stop()
    click.echo(f"{sync.rounds} rounds, {sync.failed} failures of wallets, exit status {status}")
    if not sound:
        click.echo("\n".join(["The last warnings:", *sync.warnings]))
    sys.exit(0 if sound and status == 0 else 1)


def _live(world: World, operator: Operator, sync: Sync, seconds: float, kills: bool) -> None:
    """Let the chains go on for so long, and let things fail."""
    chance = world.chance

    def fault() -> Response | None:
        return chance.choice((*FAULTS, *NODE_FAULTS))() if chance.random() < 1 / 12 else None

    world.stub.scenarios = {"rpc": fault}
    began = time.monotonic()
    due = dict.fromkeys(_BLOCK_SECONDS, 0.0)
    said = 0.0
    while (now := time.monotonic() - began) < seconds:
        for name, chain in world.stub.nodes.blocks.items():
            if due[name] > now:
                continue
            due[name] = now + _BLOCK_SECONDS[name]
            with chain.lock:
                world.grow(name, chain)
                if chance.random() < _BLOCK_SECONDS[name] / 20:
                    world.reorganise(name, chain)
                chain.behind = chance.choice((0, 0, 0, 0, 0, 1, 3))
                chain.lies = chance.random() < 0.5
                chain.state_blocks = chance.choice((None, None, 128, 3, 0))
        if now - said > 60:
            said = now
            click.echo(
                f"{now:6.0f} s: {world.numbers} trades, {world.reorganisations} reorganisations,"
                f" {sync.rounds} rounds, {sync.failed} failures"
            )
            operator.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE 'wallet-api sync%%' AND random() < 0.2"
            )
            if kills:
                sync.kill()
                sync.start()
        time.sleep(0.05)
    world.stub.scenarios = {}
    for chain in world.stub.nodes.blocks.values():
        chain.behind, chain.state_blocks = 0, None


def _settled(world: World, operator: Operator) -> bool:
    """Wait until the ledger equals the chains, and say what does not."""
    expected = world.expected()
    ends = time.monotonic() + _SETTLE_SECONDS
    while True:
        ledger = {
            (chain, wallet, signature, side): (trade[0], trade[1], trade[3])
            for (chain, wallet, signature, _, side), trade in operator.ledger().items()
        }
        if ledger == expected or time.monotonic() > ends:
            break
        time.sleep(1)
    missing, more = expected.keys() - ledger.keys(), ledger.keys() - expected.keys()
    other = {key for key in expected.keys() & ledger.keys() if expected[key] != ledger[key]}
    click.echo(
        f"{len(expected)} trades, {world.reorganisations} reorganisations: {len(missing)} missing,"
        f" {len(more)} that no chain has, {len(other)} with another amount, value or time"
    )
    for chain, count in Counter(key[0] for key in missing).items():
        click.echo(f"  {count} missing on {chain}")
    for key in [*missing, *more, *other][:5]:
        click.echo(f"  {key}: expected {expected.get(key)}, found {ledger.get(key)}")
    return ledger == expected


if __name__ == "__main__":
    main()
