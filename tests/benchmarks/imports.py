"""Measures imports of several sizes: their rate against a raw COPY of the rows, and the importer's memory.

    python -m tests.benchmarks.imports [--sizes 100000,1000000]

prints a table, and the targets that were missed. A million rows take some minutes.
"""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psutil

from tests.benchmarks import ledger_world
from tests.ledger.alone import ledger_alone
from tests.lib.processes import peak_of
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

_COPIES = 3
_MANY = 1_000_000
# Targets: the rate as a part of that of a COPY, and of that of a million rows; and the memory.
COPY_RATIO = 0.3
KEPT_RATE = 0.8
MEMORY_MB = 300


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of trades, with commas.")
def main(sizes: str) -> None:
    """Print the table."""
    print("| trades | import, rows/s | raw COPY, rows/s | ratio | importer, MB |")
    print("|---:|---:|---:|---:|---:|")
    rates: dict[int, float] = {}
    for trades in map(int, sizes.split(",")):
        with ledger_alone() as settings, connect(str(settings.database_url)) as connection:
            home = Path(settings.wallet_api_home).parent
            click.echo(f"making and importing {trades:,} trades …", err=True)
            ledger_world.write(home, trades)
            rate, megabytes = _import(settings, home, trades)
            ratio = rate * _raw_copy(connection, home, trades) / trades
        print(f"| {trades:,} | {rate:,.0f} | {rate / ratio:,.0f} | {ratio:.2f} | {megabytes:.0f} |")
        rates[trades] = rate
        faults = {
            f"import {ratio:.2f} × COPY, not {COPY_RATIO}": trades >= _MANY and ratio < COPY_RATIO,
            f"importer {megabytes:.0f} MB, not {MEMORY_MB}": megabytes > MEMORY_MB,
            f"less than {KEPT_RATE} × the rate at {_MANY:,}": rate < KEPT_RATE * rates.get(_MANY, rate),
        }
        for fault in (fault for fault, is_missed in faults.items() if is_missed):
            click.echo(f"Missed at {trades:,}: {fault}")


def _import(settings: Settings, home: Path, trades: int) -> tuple[float, float]:
    """Return the trades imported in a second, and the megabytes that the importer had at most."""
    for name in ("wallets", "prices", "trades"):
        started = time.monotonic()
        with ledger_world.importing(settings, home, name) as importer:
            with peak_of(psutil.Process(importer.pid)) as peak:
                importer.wait(86_400)
            seconds = time.monotonic() - started
    return trades / seconds, peak[0] / 1_000_000


def _raw_copy(connection: Connection, home: Path, trades: int) -> float:
    """How long the rows, by time as in the file, take into a table like the ledger's: median seconds."""
    file = home / "raw.copy"
    by_time = "COPY (SELECT * FROM trades ORDER BY created_at, tx_signature) TO STDOUT"
    with connection.cursor() as cursor, file.open("wb") as output, cursor.copy(by_time) as copy:
        output.writelines(copy)
    times = []
    for _ in range(_COPIES if trades <= _MANY else 1):
        connection.execute("CREATE TABLE raw (LIKE trades INCLUDING ALL)")
        connection.execute("CHECKPOINT")
        started = time.monotonic()
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY raw FROM STDIN") as copy,
            file.open("rb") as rows,
        ):
            for block in _blocks(rows):
                copy.write(block)
        times.append(time.monotonic() - started)
        connection.execute("DROP TABLE raw")
    return statistics.median(times)


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(1 << 18):
        yield block


if __name__ == "__main__":
    main()
