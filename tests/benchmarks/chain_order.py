"""Many wallets with several trades a second: have they the figures of the order of their chain?

    python -m tests.benchmarks.chain_order [--wallets 100000] [--trades 4]

Each trade is imported twice, as by a sync that reads it again: without its place in the chain, and with it.
Then each position has to be that of a naive walk in the order of the chain, with exact fractions, and what
followers read, the arrivals and events, has to be as it was. Ends with status 0 if so.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import LiteralString

import click

from tests.ledger.alone import ledger_alone
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import trade_row
from tests.naive.walk import Trade, shown, trade_of, walk
from wallet_api.database import Connection, connect

_AT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
_BLOCKS = 10
_CHANGES: LiteralString = """
SELECT (SELECT count(*) FROM arrivals) AS arrivals,
       (SELECT sum(hashtextextended(arrivals::text, 0)) FROM arrivals) AS all_arrivals,
       (SELECT count(*) FROM ledger_events) AS events
"""
_POSITIONS: LiteralString = """
SELECT wallets.address, positions.quantity, positions.cost, positions.realized, positions.peak
  FROM positions
  JOIN wallets USING (wallet_id)
"""


def rows(wallets: int, trades: int) -> Iterator[Row]:
    """Yield trades of one token a wallet, in blocks of 200 ms, of which some headers have milliseconds."""
    chance = random.Random(1)
    for wallet in range(wallets):
        for number in range(trades):
            block = chance.randrange(_BLOCKS)
            at = _AT + timedelta(seconds=wallet % 3600, milliseconds=200 * block)
            yield trade_row(
                f"0x{wallet:040x}",
                f"0x{chance.getrandbits(256):064x}",
                at if chance.random() < 0.5 else at.replace(microsecond=0),
                blockchain="base",
                mint=f"0x{wallet % 997 + 10**6:040x}",
                transaction_type=chance.choice(("buy", "buy", "sell")),
                token_amount=str(chance.randint(1, 100)),
                value=str(chance.randint(1, 100)),
                block=block,
                block_index=number,
            )


def unplaced(row: Row) -> Row:
    """Return a row as a source has it that states no place."""
    at = datetime.fromisoformat(row["created_at"]).replace(microsecond=0).isoformat()
    return {
        name: value for name, value in row.items() if not name.startswith("block_") and name != "block"
    } | {"created_at": at}


def differing(connection: Connection, wallets: int, trades: int) -> int:
    """Return how many positions are not those of the walk in the order of the chain."""
    by_wallet: defaultdict[str, list[Trade]] = defaultdict(list)
    for row in rows(wallets, trades):
        by_wallet[row["wallet_address"]].append(trade_of(row, lambda identity: None))
    found = {row["address"]: row for row in connection.execute(_POSITIONS)}
    count = len(by_wallet.keys() ^ found.keys())
    for address in by_wallet.keys() & found.keys():
        position = walk(sorted(by_wallet[address], key=lambda trade: trade.order))
        wanted = (position.quantity, position.held_cost, position.realized, position.peak)
        names = ("quantity", "cost", "realized", "peak")
        count += [shown(each, 9) for each in wanted] != [
            shown(Fraction(found[address][name]), 9) for name in names
        ]
    return count


@click.command()
@click.option("--wallets", default=100_000)
@click.option("--trades", default=4)
def main(wallets: int, trades: int) -> None:
    """Import, compare, and say what differs."""
    with ledger_alone() as settings, connect(str(settings.database_url)) as connection:
        importer = Importer(str(settings.database_url))
        importer.wallets(
            {"blockchain": "base", "type": "kol", "wallet_address": f"0x{number:040x}"}
            for number in range(wallets)
        )
        began = time.monotonic()
        first = importer.trades(unplaced(row) for row in rows(wallets, trades))
        click.echo(f"{first.landed} trades of {wallets} wallets in {time.monotonic() - began:.0f} s")
        before, at_first = connection.execute(_CHANGES).fetchall(), differing(connection, wallets, trades)
        began = time.monotonic()
        second = importer.trades(rows(wallets, trades))
        click.echo(f"{second.changed} learn their place in {time.monotonic() - began:.0f} s")
        is_quiet = connection.execute(_CHANGES).fetchall() == before
        at_last = differing(connection, wallets, trades)
    click.echo(f"events and arrivals {'are as they were' if is_quiet else 'have changed'}")
    click.echo(f"other positions than those of the chain's order: {at_first} without places, {at_last} with")
    is_whole = first.landed == second.landed == second.changed == wallets * trades
    sys.exit(0 if is_quiet and is_whole and not at_last else 1)


if __name__ == "__main__":
    main()
