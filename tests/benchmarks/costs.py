"""What requests cost: the CPU time of gunicorn, PostgreSQL and Valkey for each, by operation and size.

    python -m tests.benchmarks.costs [--sizes 100000,1000000] [--keep FOLDER] [--against ../other-checkout]

prints the tables of docs/benchmarks.md; the share is what a key with the default rate can take. All sizes are
measured in turn, with --against also this checkout and the other one, which makes the ledger: this one gets a
copy of it with its own tables. Takes a quarter of an hour for each.
"""

import http.client
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import click
import psutil

from tests.benchmarks import ledger_world
from tests.benchmarks.costs_cases import Case, cases
from tests.benchmarks.http_servers import ROOT, gunicorn, run_command_of, stores
from tests.lib.processes import Gunicorn, running_valkey
from wallet_api.api.keys import create_key
from wallet_api.database import connect
from wallet_api.operate import embedded
from wallet_api.settings import Settings

# Of a key without a rate of its own.
REQUESTS_A_MINUTE = 300
CORES = 2
# The times are of whole ticks, of which a batch has many.
BATCH_CPU_SECONDS = 0.6
MOST_REQUESTS = 400
MOST_WITH_PAUSES = 5
LEADERBOARD_TTL_SECONDS = 1.0
# What costs more than this many times the list of wallets, which is the first case, is named.
MOST_TIMES = (40, 120)
FEW = 100


@dataclass(frozen=True)
class Version:
    """A running service of a checkout over a ledger, a key for it, and its processes."""

    name: str
    server: Gunicorn
    key: str
    stores: Sequence[psutil.Process]

    def cpu_seconds(self) -> float:
        """Return what its processes have used so far, and those of them that have ended."""
        total = 0.0
        for process in (psutil.Process(self.server.process.pid), *self.stores):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
            for child in process.children(recursive=True):
                try:
                    own = child.cpu_times()
                except psutil.NoSuchProcess:
                    continue
                total += own.user + own.system
        return total


@dataclass
class Cost:
    """What requests of a case cost one version: CPU milliseconds of each round, seconds of each request."""

    cpu_ms: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    size: int = 0

    @property
    def ms(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.cpu_ms)

    @property
    def tail(self) -> str:
        """The 99th percentile of the times as a multiple of their median, unless they are few."""
        if len(self.seconds) < FEW:
            return ""
        return f"{statistics.quantiles(self.seconds, n=100)[98] / statistics.median(self.seconds):.1f}"


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of trades, with commas.")
@click.option("--rounds", default=3, show_default=True, help="The figures are medians of so many.")
@click.option("--only", default="", help="Cases whose name this expression finds; the first one always.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the ledgers below this folder.")
@click.option("--against", type=click.Path(path_type=Path), help="Another checkout to compare with.")
def main(sizes: str, rounds: int, only: str, keep: Path | None, against: Path | None) -> None:
    """Print the table."""
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-costs-")))
        versions: list[Version] = []
        for trades in map(int, sizes.split(",")):
            found, addresses = stack.enter_context(_versions(folder / str(trades), trades, against))
            versions += found
        every = cases(addresses)
        wanted = [case for case in every if case is every[0] or re.search(only, case.name)]
        figures = {case.name: _measured(case, versions, rounds) for case in wanted}
    _print(versions, figures)


@contextmanager
def _versions(folder: Path, trades: int, against: Path | None) -> Iterator[tuple[list[Version], list[str]]]:
    trees = {"this": ROOT} if against is None else {"other": against.resolve(), "this": ROOT}
    folder.mkdir(parents=True, exist_ok=True)
    # The servers of root run as another user.
    for own_folder in (folder.parent, folder):
        own_folder.chmod(0o711)
    own = Settings(wallet_api_home=str(folder))
    with ExitStack() as stack:
        settings = stack.enter_context(embedded.running(own))
        valkey_url = stack.enter_context(running_valkey(folder))
        url = str(settings.database_url)
        _make_ledger(folder, url, trades, next(iter(trees.values())))
        found = []
        for place, (name, tree) in enumerate(trees.items()):
            database = _database(url, name, tree, is_first=place == 0)
            with connect(database) as connection:
                key = create_key(connection, f"bench {time.time()}", rate="1000000/second")
                rows = connection.execute(
                    "SELECT address FROM wallets WHERE blockchain = %(blockchain)s AND type = %(type)s",
                    ledger_world.GROUP,
                ).fetchall()
            environment = {
                "DATABASE_URL": database,
                "VALKEY_URL": valkey_url,
                "WALLET_API_HOME": str(folder),
                "ANSWER_TTL_SECONDS": "0",
                "LEADERBOARD_TTL_SECONDS": str(LEADERBOARD_TTL_SECONDS),
            }
            server = stack.enter_context(gunicorn(name, "wsgi:app", folder, environment, tree=tree))
            processes = [process for kind in stores(folder).values() for process in kind]
            shown = f"{trades:,}" if against is None else f"{trades:,}, {name}"
            found.append(Version(shown, server, key, processes))
        yield found, [row["address"] for row in rows]


def _make_ledger(folder: Path, url: str, trades: int, tree: Path) -> None:
    made = folder / "made"
    if made.exists():
        return
    click.echo(f"making a ledger of {trades:,} trades …", err=True)
    ledger_world.write(folder, trades)
    database = {"DATABASE_URL": url}
    run_command_of(tree, database, "migrate")
    for name in ("wallets", "prices", "trades"):
        run_command_of(tree, database, "import", name, str(folder / f"{name}.ndjson"))
    with connect(url) as connection:
        # It would fall on some case.
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("VACUUM ANALYZE")
    made.touch()


def _database(url: str, name: str, tree: Path, *, is_first: bool) -> str:
    """Return the address of the ledger, or of a copy of it with the tables of another checkout."""
    if is_first:
        run_command_of(tree, {"DATABASE_URL": url}, "migrate")
        return url
    parts = urlsplit(url)
    with connect(parts._replace(path="/postgres").geturl()) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        template = parts.path.removeprefix("/")
        connection.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{template}'"
        )
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    copy = parts._replace(path=f"/{name}").geturl()
    run_command_of(tree, {"DATABASE_URL": copy}, "migrate")
    with connect(copy) as connection:
        connection.execute("VACUUM ANALYZE")
    return copy


def _measured(case: Case, versions: Sequence[Version], rounds: int) -> dict[str, Cost]:
    """Return what a case costs each version."""
    costs = {version.name: Cost() for version in versions}
    numbers = iter(range(1_000_000))
    for _ in range(rounds):
        for version in versions:
            _batch(case, version, numbers, costs[version.name])
    click.echo(f"{case.name}: {[f'{name}: {cost.ms:.1f} ms' for name, cost in costs.items()]}", err=True)
    return costs


def _batch(case: Case, version: Version, numbers: Iterator[int], cost: Cost) -> None:
    address = urlsplit(version.server.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
    headers = {"Authorization": f"Bearer {version.key}"}

    def send() -> None:
        arguments = urlencode(case.arguments(next(numbers)))
        began = time.perf_counter()
        connection.request("GET", f"{case.path}?{arguments}", headers=headers)
        response = connection.getresponse()
        body = response.read()
        cost.seconds.append(time.perf_counter() - began)
        cost.size = len(body)
        if response.status != 200:
            raise click.ClickException(f"{case.name} of {version.name}: {body[:500]!r}")

    send()
    # It was what a worker does once.
    cost.seconds.pop()
    used = requests = 0.0
    most = MOST_WITH_PAUSES if case.pause else MOST_REQUESTS
    while requests < most and used < BATCH_CPU_SECONDS:
        if case.pause:
            time.sleep(LEADERBOARD_TTL_SECONDS + 0.1)
        before = version.cpu_seconds()
        for _ in range(1 if case.pause else 10):
            send()
            requests += 1
        used += version.cpu_seconds() - before
    connection.close()
    cost.cpu_ms.append(used / requests * 1000)


def _print(versions: Sequence[Version], figures: Mapping[str, Mapping[str, Cost]]) -> None:
    names = [version.name for version in versions]
    heads = [f"{name}: CPU ms | × the first | % of {CORES} cores | p99 : p50" for name in names]
    print(f"| request | {' | '.join(heads)} | bytes |")
    print("|---|" + "---:|" * (4 * len(names) + 1))
    first = next(iter(figures.values()))
    for case, of in figures.items():
        cells = []
        for name in names:
            cost = of[name]
            share = cost.ms / 1000 * REQUESTS_A_MINUTE / 60 / CORES * 100
            cells += [f"{cost.ms:.1f}", f"{cost.ms / first[name].ms:.0f}", f"{share:.0f}", cost.tail]
        print(f"| {case} | {' | '.join(cells)} | {of[names[-1]].size:,} |")
    last = names[-1]
    for most in MOST_TIMES:
        dear = [case for case, of in figures.items() if of[last].ms > most * first[last].ms]
        print(f"\nAbove {most} × the first: {', '.join(dear) or 'none'}")
    Path("build").mkdir(exist_ok=True)
    kept = {case: {name: cost.ms for name, cost in of.items()} for case, of in figures.items()}
    Path("build/bench-costs.json").write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
