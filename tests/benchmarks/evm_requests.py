"""How many requests an hour the sync of an EVM chain from a node takes, for 10, 1,000 and 10,000 wallets.

    python -m tests.benchmarks.evm_requests [--trades 10] [--every 300]

A stub serves the blocks of one round, in which each wallet trades as often as in so many a day, and gets as
much spam. The requests of that round are multiplied; Moralis' units are those of one page a wallet and round.
"""

import random
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import click

from tests.stub.evm import EvmChain, Transaction, transfer
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, DOG, ETH, FRIEND, WRAPPED, buy, receipt
from tests.sync.operator import Operator
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.settings import Settings

_BLOCK_SECONDS = {"eth": 12.0, "base": 2.0, "bnb": 0.45}
_MORALIS_UNITS = 50


@click.command()
@click.option("--trades", default=10.0, show_default=True, help="Trades of a wallet a day.")
@click.option("--every", default=300.0, show_default=True, help="Seconds between rounds.")
def main(trades: float, every: float) -> None:
    """Measure, and print a table."""
    rounds = 3600 / every
    click.echo("chain  wallets  HTTP requests/h  calls/h  by method (calls/h)  Moralis units/h")
    for name, seconds in _BLOCK_SECONDS.items():
        for wallets in (10, 1000, 10_000):
            requests, calls = _measure(name, seconds, wallets, trades * every / 86_400, every)
            methods = ", ".join(f"{method} {count * rounds:,.0f}" for method, count in calls.most_common())
            units = wallets * rounds * _MORALIS_UNITS
            counts = f"{requests * rounds:15,.0f}  {calls.total() * rounds:7,.0f}"
            click.echo(f"{name:5}  {wallets:7,}  {counts}  {methods}  {units:,.0f}")


def _measure(
    name: str, seconds: float, wallets: int, trades_a_round: float, every: float
) -> tuple[int, Counter[str]]:
    """Return the HTTP requests and the calls of a round in which nothing is read for the first time."""
    chance = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="wallet-api-requests-") as home:
        own = replace(Settings.from_environment(), wallet_api_home=home)
        with embedded.running(own) as settings, closing(Stub()) as stub:
            with connect(str(settings.database_url)) as connection:
                migrations.migrate(connection)
            operator = Operator(stub, str(settings.database_url))
            operator.environment |= stub.evm_environment(name)
            addresses = [f"0x{number + 0xABC000:040x}" for number in range(wallets)]
            operator.track(*((name, address) for address in addresses))
            chain = stub.nodes.blocks[name] = EvmChain(decimals={CAT: 6, DOG: 6})
            began = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=every)
            chain.add(began)
            since = ("--since", began.isoformat())
            operator.sync("trades", "--chain", name, *since)
            blocks = [
                chain.add(began + timedelta(seconds=n * seconds)) for n in range(1, int(every / seconds))
            ]
            for number in range(round(wallets * trades_a_round)):
                wallet = chance.choice(addresses)
                spam = receipt(10**9 + number, transfer(DOG, FRIEND, wallet, 5), sender=FRIEND)
                trade = buy(number, coin=ETH, wallet=wallet, wrapped=WRAPPED[name])
                for one in (trade, Transaction(spam)):
                    chance.choice(blocks).transactions.append(one)
            stub.calls.clear()
            requests = operator.sync("trades", "--chain", name, *since).only["requests"]
            return requests, Counter(call.name for call in stub.calls if call.name.startswith("eth_"))


if __name__ == "__main__":
    main()
