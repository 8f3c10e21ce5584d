"""Land single trades in a large ledger, as a followed chain does: how long does each take, beside readers?

    python -m tests.benchmarks.landing [--trades 1000000] [--seconds 60] [--per-second 100] [--readers 2]

First trades land one by one, while nothing else runs. Then they come at the given rate while the readers
request histories, boards, feeds and volumes over HTTP as fast as they can; those that have come meanwhile
land together, as notices do. The delays are those from the time at which a trade is due to its commit. CPU is
that of the importer and of its backend, which says more than time where others use the machine.
"""

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import base58
import click
import psutil
import requests

from tests.benchmarks import ledger_world
from tests.benchmarks.http_world import bytes_of, solana_address
from tests.lib.processes import start_gunicorn
from wallet_api import embedded, migrations
from wallet_api.database import Connection, connect
from wallet_api.forms import BadRow
from wallet_api.keys import create_key
from wallet_api.ledger.imports import import_trades
from wallet_api.ledger.rows import TradeRow
from wallet_api.settings import Settings

_SINGLE = 500
_FRESH_TOKENS = 5000
_GROUP = {"blockchain": ledger_world.BLOCKCHAIN, "type": ledger_world.TYPE}


@dataclass
class Landing:
    """Lands trades of the wallets of the chain in turn; one in ten is in the hot token, by many wallets."""

    connection: Connection
    wallets: Sequence[tuple[str, int]]
    count: int = 0

    def land(self, trades: int) -> None:
        """Land so many trades in one import."""
        ids = {(ledger_world.BLOCKCHAIN, address): number for address, number in self.wallets}
        done = import_trades(self.connection, self._records(trades), _refuse, wallet_ids=ids)
        assert done.changed == trades

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process and of its backend."""
        times = [psutil.Process(pid).cpu_times() for pid in (os.getpid(), self.connection.info.backend_pid)]
        return sum(one.user + one.system for one in times)

    def _records(self, trades: int) -> Iterator[tuple[int, bytes, TradeRow]]:
        for number in range(trades):
            yield number, b"", self._trade()

    def _trade(self) -> TradeRow:
        self.count += 1
        number = self.count
        token = "hot" if number % 10 == 0 else f"fresh {number % _FRESH_TOKENS}"
        return TradeRow(
            blockchain=ledger_world.BLOCKCHAIN,  # type: ignore[arg-type]
            wallet_address=self.wallets[number * 7919 % len(self.wallets)][0],
            tx_signature=base58.b58encode(bytes_of(f"landing {number}", 64)).decode(),
            mint=solana_address(token),
            transaction_type="sell" if number % 3 == 0 else "buy",
            token_amount=f"{1000 + number}.{number % 997:06d}",
            value=f"{1 + number % 7}.{number * 7919 % 10**9:09d}",
            created_at=datetime.now(UTC),
        )


@dataclass
class Readers:
    """Threads that request data over HTTP until they are stopped."""

    url: str
    key: str
    stopping: threading.Event = field(default_factory=threading.Event)
    times: list[float] = field(default_factory=list)

    def read(self, first: int, addresses: Sequence[str]) -> None:
        """Request one operation after the other."""
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {self.key}"
        number = first
        while not self.stopping.is_set():
            number += 1
            wallet = _GROUP | {"address": addresses[number * 31 % len(addresses)]}
            path, parameters = (
                ("/v1/wallets/history", wallet),
                ("/v1/transactions/latest", _GROUP),
                ("/v1/wallet/leaderboard", _GROUP | {"period": "30d"}),
                ("/v1/transactions/volume", _GROUP),
                ("/v1/wallets", _GROUP | {"limit": "50"}),
            )[number % 5]
            began = time.perf_counter()
            response = session.get(self.url + path, params=parameters, timeout=30)
            # A history is one of the wallet's own group.
            assert response.status_code in (200, 404), response.text
            self.times.append((time.perf_counter() - began) * 1000)


@click.command()
@click.option("--trades", default=1_000_000, show_default=True, help="Those of the ledger.")
@click.option("--seconds", default=60.0, show_default=True)
@click.option("--per-second", default=100.0, show_default=True)
@click.option("--readers", default=2, show_default=True)
def main(trades: int, seconds: float, per_second: float, readers: int) -> None:
    """Print the times."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-bench-")))
        click.echo(f"{trades:,} trades: making and importing them …", err=True)
        ledger_world.write(home, trades)
        settings = stack.enter_context(embedded.running(Settings(wallet_api_home=str(home / "home"))))
        connection = stack.enter_context(connect(str(settings.database_url)))
        migrations.migrate(connection)
        for name in ("wallets", "prices", "trades"):
            with ledger_world.importing(settings, home, name):
                pass
        connection.execute("VACUUM ANALYZE")
        key = create_key(connection, "reader", rate="1000000/second")
        query = "SELECT address, wallet_id FROM wallets WHERE blockchain = %s ORDER BY wallet_id"
        rows = connection.execute(query, [ledger_world.BLOCKCHAIN])
        landing = Landing(connection, [(row["address"], row["wallet_id"]) for row in rows])
        _one_by_one(landing)
        server = start_gunicorn(settings, home / "server.log", workers=2, threads=4)
        stack.callback(server.stop)
        reading = Readers(server.url, key)
        addresses = [address for address, _ in landing.wallets]
        threads = [threading.Thread(target=reading.read, args=(one, addresses)) for one in range(readers)]
        for thread in threads:
            thread.start()
        try:
            _at_a_rate(landing, seconds, per_second)
        finally:
            reading.stopping.set()
            for thread in threads:
                thread.join()
    if reading.times:
        click.echo(
            f"readers: {len(reading.times) / seconds:.0f} requests a second, half within"
            f" {statistics.median(reading.times):.0f} ms, 99 % {_most(reading.times):.0f} ms"
        )
    click.echo(f"load of the machine {', '.join(f'{load:.1f}' for load in psutil.getloadavg())}")


def _one_by_one(landing: Landing) -> None:
    times = []
    landing.land(1)
    cpu = landing.cpu_seconds()
    for _ in range(_SINGLE):
        began = time.perf_counter()
        landing.land(1)
        times.append((time.perf_counter() - began) * 1000)
    _say("one by one", times)
    click.echo(f"CPU of each: {(landing.cpu_seconds() - cpu) / _SINGLE * 1000:.1f} ms")


def _at_a_rate(landing: Landing, seconds: float, per_second: float) -> None:
    began, first, cpu = time.perf_counter(), landing.count, landing.cpu_seconds()
    imports, delays = [], []
    while (now := time.perf_counter() - began) < seconds:
        landed = landing.count - first
        due = int(now * per_second) - landed
        if due < 1:
            time.sleep(0.002)
            continue
        landing.land(due)
        done = time.perf_counter() - began
        imports.append((done - now) * 1000)
        delays += [(done - (landed + number) / per_second) * 1000 for number in range(1, due + 1)]
    _say(f"{len(delays) / seconds:.0f} a second beside the readers, each from its time on", delays)
    click.echo(f"CPU of each: {(landing.cpu_seconds() - cpu) / len(delays) * 1000:.1f} ms")
    _say(f"the imports, of {len(delays) / len(imports):.1f} trades each", imports)


def _say(what: str, times: Sequence[float]) -> None:
    click.echo(f"{what}: half within {statistics.median(times):.1f} ms, 99 % {_most(times):.1f} ms")


def _most(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise AssertionError(fault.rule)


if __name__ == "__main__":
    main()
