"""What requests cost: the CPU time of gunicorn, PostgreSQL and Valkey for each, by operation.

    python -m tests.benchmarks.dearest [--trades 1000000] [--keep FOLDER] [--against ../other-checkout]

prints the table of docs/benchmarks.md; the share is what a key with the default rate can take. With --against
the other checkout makes the ledger, and this one gets a copy of it with its own tables, so that both are
measured in turn. Takes a quarter of an hour.
"""

import http.client
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import click
import psutil

from tests.benchmarks import ledger_world
from tests.benchmarks.dearest_cases import Case, cases
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
# No request may cost more than this many times the cheapest one, which is the first case.
MOST_TIMES = 50


@dataclass(frozen=True)
class Version:
    """A running service of a checkout, a key for it, and its processes."""

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


@click.command()
@click.option("--trades", default=1_000_000, show_default=True, help="Size of the ledger.")
@click.option("--rounds", default=3, show_default=True, help="The figures are medians of so many.")
@click.option("--only", default="", help="Cases whose name this expression finds; the first one always.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the ledger in this folder.")
@click.option("--against", type=click.Path(path_type=Path), help="Another checkout to compare with.")
def main(trades: int, rounds: int, only: str, keep: Path | None, against: Path | None) -> None:
    """Print the table."""
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-dearest-")))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        versions, addresses = stack.enter_context(_versions(folder, trades, against))
        every = cases(addresses)
        wanted = [case for case in every if case is every[0] or re.search(only, case.name)]
        figures = {case.name: _measured(case, versions, rounds) for case in wanted}
    _print(versions, figures)


@contextmanager
def _versions(folder: Path, trades: int, against: Path | None) -> Iterator[tuple[list[Version], list[str]]]:
    trees = {"this": ROOT} if against is None else {"other": against.resolve(), "this": ROOT}
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
                "LEADERBOARD_TTL_SECONDS": str(LEADERBOARD_TTL_SECONDS),
            }
            server = stack.enter_context(gunicorn(name, "wsgi:app", folder, environment, tree=tree))
            processes = [process for kind in stores(folder).values() for process in kind]
            found.append(Version(name, server, key, processes))
        yield found, [row["address"] for row in rows]


def _make_ledger(folder: Path, url: str, trades: int, tree: Path) -> None:
    made = folder / f"made-{trades}"
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


def _measured(case: Case, versions: Sequence[Version], rounds: int) -> dict[str, tuple[float, int]]:
    """Return the CPU milliseconds of a request, and its bytes, of each version."""
    times: dict[str, list[float]] = {version.name: [] for version in versions}
    sizes: dict[str, int] = {}
    numbers = iter(range(1_000_000))
    for _ in range(rounds):
        for version in versions:
            milliseconds, sizes[version.name] = _batch(case, version, numbers)
            times[version.name].append(milliseconds)
    found = {name: (statistics.median(taken), sizes[name]) for name, taken in times.items()}
    click.echo(f"{case.name}: {found}", err=True)
    return found


def _batch(case: Case, version: Version, numbers: Iterator[int]) -> tuple[float, int]:
    address = urlsplit(version.server.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
    headers = {"Authorization": f"Bearer {version.key}"}

    def send(arguments: Mapping[str, object]) -> int:
        connection.request("GET", f"{case.path}?{urlencode(arguments)}", headers=headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise click.ClickException(f"{case.name} of {version.name}: {body[:500]!r}")
        return len(body)

    # What a worker does once.
    size = send(case.arguments(next(numbers)))
    used = requests = 0.0
    most = MOST_WITH_PAUSES if case.pause else MOST_REQUESTS
    while requests < most and used < BATCH_CPU_SECONDS:
        if case.pause:
            time.sleep(LEADERBOARD_TTL_SECONDS + 0.1)
        before = version.cpu_seconds()
        for _ in range(1 if case.pause else 10):
            size = send(case.arguments(next(numbers)))
            requests += 1
        used += version.cpu_seconds() - before
    connection.close()
    return used / requests * 1000, size


def _print(versions: Sequence[Version], figures: Mapping[str, Mapping[str, tuple[float, int]]]) -> None:
    names = [version.name for version in versions]
    heads = [f"{name}: CPU ms | × the first | % of {CORES} cores" for name in names]
    print(f"| request | {' | '.join(heads)} | bytes |")
    print("|---|" + "---:|" * (3 * len(names) + 1))
    first = next(iter(figures.values()))
    for case, of in figures.items():
        cells = []
        for name in names:
            milliseconds = of[name][0]
            share = milliseconds / 1000 * REQUESTS_A_MINUTE / 60 / CORES * 100
            cells += [f"{milliseconds:.1f}", f"{milliseconds / first[name][0]:.0f}", f"{share:.0f}"]
        print(f"| {case} | {' | '.join(cells)} | {of[names[-1]][1]:,} |")
    last = names[-1]
    dear = [case for case, of in figures.items() if of[last][0] > MOST_TIMES * first[last][0]]
    print(f"\nAbove {MOST_TIMES} × the first: {', '.join(dear) or 'none'}")
    Path("build").mkdir(exist_ok=True)
    Path("build/bench-dearest.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
