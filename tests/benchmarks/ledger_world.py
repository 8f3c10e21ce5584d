"""What the ledger is measured with: a demo world, wallets with records of their own, and a hot token."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from heapq import merge
from pathlib import Path

import click
import msgspec

from tests.benchmarks.http_world import solana_address
from tests.ledger.rows import Row, trade_row
from tests.lib.processes import wallet_api
from wallet_api.operate.demo.forms import seeded, solana_signature
from wallet_api.operate.demo.world import DAYS, World
from wallet_api.settings import Settings

WALLETS = 1000
HEAVY_TOKENS = 2_000
# One trade in so many is the heavy wallet's.
HEAVY_SHARE = 20
LIGHT_TOKENS = 20
LIGHT_TRADES = 100
GROUP = {"blockchain": "solana", "type": "kol"}
HEAVY, LIGHT = solana_address("heavy"), solana_address("light")
# As many trades as the median wallet has in a ledger of a million trades.
MEDIAN = solana_address("median")
MEDIAN_TOKENS = 60
MEDIAN_TRADES = 200
# These wallets of the group traded tokens of the median wallet, each in the last minutes too.
COMPANIONS = 100
COMPANION_TRADES = 5
# One trade in so many is in the hot token, by all wallets of Solana but those measured.
HOT_SHARE = 10
HOT_MINT = solana_address("hot")
OF_HEAVY, OF_MEDIAN, OF_LIGHT = (
    {"blockchain": "solana", "address": address} for address in (HEAVY, MEDIAN, LIGHT)
)
OF_HOT = {"blockchain": "solana", "mint": HOT_MINT}


def as_of(number: int) -> datetime:
    """Return a moment a little ago, another one for each number."""
    return datetime.now(UTC) - timedelta(minutes=5, seconds=number)


def days_ago(days: int) -> str:
    """Return the midnight of UTC so many days ago, as an argument."""
    return f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%d}"


def write(folder: Path, trades: int) -> None:
    """Make wallets.ndjson, prices.ndjson, and trades.ndjson with as many trades in the order of time."""
    now = datetime.now(UTC)
    heavy, hot = trades // HEAVY_SHARE, trades // HOT_SHARE
    others = heavy + LIGHT_TRADES + MEDIAN_TRADES + hot + COMPANIONS * COMPANION_TRADES
    world = World(now, wallets=WALLETS, trades=trades - others)
    measured = [GROUP | {"wallet_address": address, "name": "Measured"} for address in (HEAVY, LIGHT, MEDIAN)]
    wallets = msgspec.to_builtins(world.wallet_rows())
    of_chain = [row for row in wallets if row["blockchain"] == GROUP["blockchain"]]
    companions = [row["wallet_address"] for row in of_chain if row["type"] == GROUP["type"]][:COMPANIONS]
    by_time = merge(
        map(msgspec.to_builtins, world.trade_rows()),
        _trades(HEAVY, heavy, HEAVY_TOKENS, now),
        _trades(LIGHT, LIGHT_TRADES, LIGHT_TOKENS, now),
        _trades(MEDIAN, MEDIAN_TRADES, MEDIAN_TOKENS, now),
        _hot_trades([row["wallet_address"] for row in of_chain], hot, now),
        _companion_trades(companions, now),
        key=lambda row: row["created_at"],
    )
    files: dict[str, Iterable[Row]] = {
        "wallets": [*wallets, *measured],
        "prices": map(msgspec.to_builtins, world.price_rows()),
        "trades": by_time,
    }
    for name, rows in files.items():
        with (folder / f"{name}.ndjson").open("wb") as file:
            file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)


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
        at = now - timedelta(days=DAYS) + step * number
        # Of three trades in a token the last one sells.
        is_sell = number // tokens % 3 == 2
        yield _trade(address, mints[number % tokens], f"{address} {number}", number, is_sell, at)


def _hot_trades(addresses: list[str], trades: int, now: datetime) -> Iterator[Row]:
    step = timedelta(days=DAYS) / trades
    for number in range(trades):
        turn, place = divmod(number, len(addresses))
        at = now - timedelta(days=DAYS) + step * number
        yield _trade(addresses[place], HOT_MINT, f"hot {number}", number, turn % 3 == 2, at)


def _companion_trades(addresses: list[str], now: datetime) -> Iterator[Row]:
    """Each of the wallets in turn buys tokens of the median wallet, once a week, the last time just now."""
    mints = [solana_address(f"{MEDIAN} {number}") for number in range(MEDIAN_TOKENS)]
    for turn in range(COMPANION_TRADES):
        week = now - timedelta(weeks=COMPANION_TRADES - 1 - turn)
        for place, address in enumerate(addresses):
            number = turn * len(addresses) + place
            at = week - timedelta(seconds=10) * (len(addresses) - place)
            mint = mints[(turn + place) % len(mints)]
            yield _trade(address, mint, f"companion {number}", number, is_sell=False, at=at)


def _trade(address: str, mint: str, seed: str, number: int, is_sell: bool, at: datetime) -> Row:
    return trade_row(
        address,
        solana_signature(seeded(seed)),
        at.replace(microsecond=0),
        mint=mint,
        token_name=f"Token {mint[:4]}",
        transaction_type="sell" if is_sell else "buy",
        token_amount=f"{1000 + number % 9973}.{number % 997:06d}",
        value=f"{1 + number % 7}.{number * 7919 % 10**9:09d}",
    )
