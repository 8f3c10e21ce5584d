"""What the ledger is measured with: a demo world, and two wallets with records of the same size in all."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from heapq import merge
from pathlib import Path

import base58
import click

from tests.benchmarks.http_world import Row, bytes_of, solana_address
from tests.processes import wallet_api
from wallet_api.demo.world import DAYS, World, ndjson
from wallet_api.settings import Settings

WALLETS = 1000
HEAVY_TOKENS = 2_000
# One trade in so many is the heavy wallet's.
HEAVY_SHARE = 20
LIGHT_TOKENS = 20
LIGHT_TRADES = 100
BLOCKCHAIN, TYPE = "solana", "kol"
HEAVY, LIGHT = solana_address("heavy"), solana_address("light")


def write(folder: Path, trades: int) -> None:
    """Make wallets.ndjson, prices.ndjson, and trades.ndjson with as many trades in the order of time."""
    now = datetime.now(UTC)
    heavy = trades // HEAVY_SHARE
    world = World(now, wallets=WALLETS, trades=trades - heavy - LIGHT_TRADES)
    measured = [
        {"blockchain": BLOCKCHAIN, "type": TYPE, "wallet_address": address, "name": "Measured"}
        for address in (HEAVY, LIGHT)
    ]
    by_time = merge(
        world.trade_rows(),
        _trades(HEAVY, heavy, HEAVY_TOKENS, now),
        _trades(LIGHT, LIGHT_TRADES, LIGHT_TOKENS, now),
        key=lambda row: row["created_at"],
    )
    files: dict[str, Iterable[Row]] = {
        "wallets": [*world.wallet_rows(), *measured],
        "prices": world.price_rows(),
        "trades": by_time,
    }
    for name, rows in files.items():
        with (folder / f"{name}.ndjson").open("wb") as file:
            file.writelines(ndjson(rows))


@contextmanager
def importing(settings: Settings, folder: Path, name: str) -> Iterator["subprocess.Popen[str]"]:
    """The command that takes one of these files in, while it runs. Raises ClickException if it fails."""
    file = str(folder / f"{name}.ndjson")
    with wallet_api("import", name, file, "--json", settings=settings) as importer:
        yield importer
        said, _ = importer.communicate()
    if importer.returncode:
        raise click.ClickException(f"The import of {name} failed: {said}")


def _trades(address: str, trades: int, tokens: int, now: datetime) -> Iterator[Row]:
    step = timedelta(days=DAYS) / trades
    mints = [solana_address(f"{address} {number}") for number in range(tokens)]
    for number in range(trades):
        yield {
            "blockchain": BLOCKCHAIN,
            "wallet_address": address,
            "tx_signature": base58.b58encode(bytes_of(f"{address} {number}", 64)).decode(),
            "mint": mints[number % tokens],
            "token_name": f"Token {number % tokens}",
            # Of three trades in a token the last one sells.
            "transaction_type": "sell" if number // tokens % 3 == 2 else "buy",
            "token_amount": f"{1000 + number % 9973}.{number % 997:06d}",
            "value": f"{1 + number % 7}.{number * 7919 % 10**9:09d}",
            "created_at": (now - timedelta(days=DAYS) + step * number).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
