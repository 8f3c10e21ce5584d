"""What a provider that hangs costs the other operations: `python -m tests.benchmarks.holdings_hang`.

The same calls of list, history, volume and leaderboard, from as many callers as fit, beside the same
arrivals of holdings calls for wallets never read before: once the provider answers, once it says nothing
for a minute. Prints calls a second of the other operations, their ratio, and how long holdings callers
waited.
Exit status 1 if the ratio is below 0.9, or a holdings answer came later than its wait and half a second.
"""

import http.client
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from urllib.parse import urlencode, urlsplit

import requests

from tests.processes import start_gunicorn
from tests.stub import faults
from tests.stub.server import Stub
from wallet_api import demo, embedded, migrations
from wallet_api.database import Row, connect
from wallet_api.demo.world import World
from wallet_api.keys import create_key
from wallet_api.settings import Settings

CALLERS = 8
ARRIVALS_PER_SECOND = 10
SECONDS = 8.0
ROUNDS = 3
LEAST_RATIO = 0.9


@dataclass
class Run:
    """One run: calls a second of the other operations, and the seconds that each holdings answer took."""

    calls_per_second: float
    holdings_seconds: list[float]


class Service:
    """The service over one database, with the stub as its provider."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        url = str(settings.database_url)
        with connect(url) as connection:
            migrations.migrate(connection)
        demo.load(url, World(datetime.now(UTC).replace(microsecond=0), wallets=200, trades=20_000))
        with connect(url) as connection:
            self._key = create_key(connection, "benchmark")
            self._wallets = connection.execute("SELECT blockchain, type, address FROM wallets").fetchall()

    def run(self, scenario: Callable[[Stub], None]) -> Run:
        """Measure with a provider that behaves so."""
        with connect(str(self._settings.database_url)) as connection:
            connection.execute("TRUNCATE holdings_snapshots")
        stub = Stub()
        scenario(stub)
        settings = replace(
            self._settings,
            default_rate="100000000/minute",
            moralis_api_key="benchmark",
            moralis_evm_url=f"{stub.url}/api/v2.2",
            moralis_solana_url=stub.url,
        )
        server = start_gunicorn(settings, self._folder / "gunicorn.log", workers=2, threads=8)
        try:
            requests.get(f"{server.url}/healthz", timeout=60)
            self._others(server.url, 1.0)
            with ThreadPoolExecutor(1) as pool, self._holdings(server.url) as times:
                rate = pool.submit(self._others, server.url, SECONDS).result()
            return Run(rate, times)
        finally:
            server.stop()
            stub.close()

    def _others(self, url: str, seconds: float) -> float:
        """Calls a second of the other four operations, each caller going on as soon as it is answered."""
        deadline = time.monotonic() + seconds

        def call_on(seed: int) -> int:
            chance = random.Random(seed)
            connection = http.client.HTTPConnection(str(urlsplit(url).hostname), urlsplit(url).port)
            done = 0
            while time.monotonic() < deadline:
                connection.request("GET", _any_other(chance, self._wallets), headers=self._headers)
                response = connection.getresponse()
                response.read()
                if response.status != 200:
                    raise SystemExit(f"the service answered {response.status}")
                done += 1
            connection.close()
            return done

        with ThreadPoolExecutor(CALLERS) as pool:
            return sum(pool.map(call_on, range(CALLERS))) / seconds

    @contextmanager
    def _holdings(self, url: str) -> Iterator[list[float]]:
        """Holdings calls at a steady rate meanwhile, each for a wallet that was never read."""
        times: list[float] = []
        ended = threading.Event()
        wallets = iter(random.Random(1).sample(self._wallets, len(self._wallets)))

        def call(wallet: Row) -> None:
            query = {name: wallet[name] for name in ("blockchain", "address")}
            began = time.monotonic()
            requests.get(f"{url}/v1/wallets/holdings", params=query, headers=self._headers, timeout=60)
            times.append(time.monotonic() - began)

        def arrive() -> None:
            with ThreadPoolExecutor(200) as pool:
                while not ended.wait(1 / ARRIVALS_PER_SECOND):
                    pool.submit(call, next(wallets))

        arrivals = threading.Thread(target=arrive)
        arrivals.start()
        try:
            yield times
        finally:
            ended.set()
            arrivals.join()

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"}


def _any_other(chance: random.Random, wallets: list[Row]) -> str:
    wallet = chance.choice(wallets)
    group = {"blockchain": wallet["blockchain"], "type": wallet["type"]}
    path, query = chance.choice(
        [
            ("/v1/wallets", group | {"limit": "20"}),
            ("/v1/wallets/history", group | {"address": wallet["address"], "limit": "20"}),
            ("/v1/transactions/volume", group | {"hours": "6"}),
            ("/v1/wallet/leaderboard", group | {"period": "1d"}),
        ]
    )
    return f"{path}?{urlencode(query)}"


def _answers(stub: Stub) -> None:
    """As it should."""


def _hangs(stub: Stub) -> None:
    """Not a byte for a minute, to anybody."""
    stub.scenarios["moralis"] = faults.hang(stub.release, 60.0)


def main() -> int:
    """Measure and tell."""
    with tempfile.TemporaryDirectory() as folder:
        home = Settings(wallet_api_home=f"{folder}/home")
        with embedded.running(home, valkey=True) as settings:
            service = Service(settings, Path(folder))
            # In turn, so that whatever else the machine does falls on both.
            pairs = [(service.run(_answers), service.run(_hangs)) for _ in range(ROUNDS)]
    well, hung = ([pair[place] for pair in pairs] for place in (0, 1))
    ratio = mean(run.calls_per_second for run in hung) / mean(run.calls_per_second for run in well)
    latest = max(seconds for run in hung for seconds in run.holdings_seconds)
    limit = settings.holdings_wait_seconds + 0.5
    for name, runs in (("answers", well), ("hangs", hung)):
        rates = ", ".join(f"{run.calls_per_second:.0f}" for run in runs)
        slowest = max(seconds for run in runs for seconds in run.holdings_seconds)
        print(f"provider {name:8} other calls/s: {rates}   slowest holdings answer: {slowest:.2f} s")
    print(f"ratio {ratio:.2f} (at least {LEAST_RATIO}), latest answer {latest:.2f} s (at most {limit})")
    return 0 if ratio >= LEAST_RATIO and latest <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
