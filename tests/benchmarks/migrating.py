"""Migrate a ledger of any size while a service of the version before and an import of the new one run.

    python -m tests.benchmarks.migrating [--trades 1000000] [--beside 50000] [--rate 50]

The new version is a copy of this one with one migration more, which adds a column to each table that grows
with the ledger, and has all wallets filled. Printed are the responses, how long the migration took, and how
long the longest wait for a lock of a table (requests) and of wallets (imports) was.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import click
import requests

from tests.benchmarks import ledger_world
from tests.benchmarks.http_servers import ROOT, gunicorn
from tests.ledger.alone import ledger_alone
from tests.lib.callers import Met, callers
from tests.lib.waiting import repeated
from wallet_api.api.keys import create_key
from wallet_api.database import connect

# The column of trades goes again, since statements that copy whole trades do not expect it.
_MIGRATION = """
ALTER TABLE trades ADD COLUMN bench numeric;
ALTER TABLE trades DROP COLUMN bench;
ALTER TABLE positions ADD COLUMN bench numeric;
ALTER TABLE lifetimes ADD COLUMN bench numeric;
ALTER TABLE position_days ADD COLUMN bench numeric;
ALTER TABLE wallet_days ADD COLUMN bench numeric;
UPDATE wallet_fill SET done_until = 0;
"""
# Callers, of which each waits so long that all together send at the rate.
LANES = 20
_LATER = "9999_measured"
_WALLET_API = (sys.executable, "-m", "wallet_api")
_PATHS = (
    "/wallets/history?limit=50&blockchain=solana&type=kol&address={0.HEAVY}",
    "/wallets/history?limit=50&blockchain=solana&type=kol&address={0.MEDIAN}",
    "/wallets/tracker?period=7d&blockchain=solana&address={0.MEDIAN}",
    "/wallets/leaderboard?period=7d&blockchain=solana&type=kol",
    "/transactions/latest?limit=50&blockchain=solana&type=kol",
)
_WAITS: LiteralString = """
SELECT locktype = 'advisory' AS of_wallets,
       extract(epoch FROM clock_timestamp() - min(waitstart))::float AS seconds
  FROM pg_locks
 WHERE NOT granted
   AND pid NOT IN (SELECT pid
                     FROM pg_locks
                    WHERE locktype = 'advisory'
                      AND mode = 'ExclusiveLock'
                      AND objid = 7401001)
 GROUP BY 1
"""


@click.command()
@click.option("--trades", default=1_000_000, show_default=True, help="How many there are.")
@click.option("--beside", default=50_000, show_default=True, help="How many are imported meanwhile.")
@click.option("--rate", default=50, show_default=True, help="Requests a second.")
def main(trades: int, beside: int, rate: int) -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory(prefix="wallet-bench-") as home:
        folder = Path(home)
        ledger_world.write(folder, trades)
        later = folder / "later"
        shutil.copytree(ROOT / "wallet_api", later / "wallet_api")
        (later / "wallet_api" / "database" / "migrations" / f"{_LATER}.sql").write_text(_MIGRATION)
        with ledger_alone(folder) as settings:
            url = str(settings.database_url)
            with connect(url) as connection:
                key = create_key(connection, "bench", rate="1000000/minute")
            environment = {"DATABASE_URL": url, "WALLET_API_HOME": settings.wallet_api_home}
            ledger_world.import_all(settings, folder)
            _write_beside(folder, beside)
            paths, headers = itertools.cycle(_PATHS), {"Authorization": f"Bearer {key}"}

            def call(session: requests.Session) -> requests.Response:
                path = next(paths).format(ledger_world)
                return session.get(f"{server.url}/v1{path}", headers=headers, timeout=60)

            with (
                gunicorn("before", "wsgi:app", folder, environment) as server,
                callers(call, LANES, LANES / rate) as met,
                _waits(url) as longest,
            ):
                try:
                    time.sleep(5)
                    _migrate(later, url, folder)
                    time.sleep(5)
                finally:
                    # Of an interrupted one too.
                    _print(met, longest)


def _write_beside(folder: Path, beside: int) -> None:
    """Keep the last trades, as new ones of now, for the import that runs meanwhile."""
    with (folder / "trades.ndjson").open() as file, (folder / "beside.ndjson").open("w") as copy:
        for number, line in enumerate(itertools.islice(file, beside)):
            copy.write(line.replace('"tx_signature":"', f'"tx_signature":"{number}-', 1))


def _migrate(later: Path, url: str, folder: Path) -> None:
    """Run the migration and the import of the new version; print how long they took."""
    environment = os.environ | {"DATABASE_URL": url, "PYTHONPATH": str(later)}
    started = time.monotonic()
    migrating = subprocess.Popen([*_WALLET_API, "migrate"], env=environment, cwd=later)
    with connect(url) as connection:
        while connection.fetch_value("SELECT max(name) AS name FROM schema_migrations") != _LATER:
            time.sleep(0.01)
        click.echo(f"columns after {time.monotonic() - started:.1f} s, with the start of the command")
        importing = subprocess.Popen(
            [*_WALLET_API, "import", "trades", str(folder / "beside.ndjson")], env=environment, cwd=later
        )
        if migrating.wait() or connection.fetch_value("SELECT count(done_until) AS n FROM wallet_fill"):
            raise click.ClickException("The migration failed.")
        click.echo(f"all after {time.monotonic() - started:.1f} s")
    if importing.wait():
        raise click.ClickException("The import beside it failed.")
    click.echo(f"import beside it after {time.monotonic() - started:.1f} s")


@contextmanager
def _waits(url: str) -> Iterator[dict[bool, float]]:
    """Yield the longest waits for locks: of wallets (True), of tables and rows (False).

    Those of what migrates are left out.
    """
    longest = {True: 0.0, False: 0.0}

    def look() -> None:
        for row in connection.execute(_WAITS):
            longest[row["of_wallets"]] = max(longest[row["of_wallets"]], row["seconds"] or 0)

    with connect(url) as connection, repeated(look, 0.02):
        yield longest


def _print(met: Met, longest: dict[bool, float]) -> None:
    seconds = sorted(response.elapsed.total_seconds() for _, _, response in met.answers)
    p50, p99 = (seconds[len(seconds) * part // 100] for part in (50, 99))
    click.echo(
        f"{len(seconds)} requests: {dict(met.statuses)}, {len(met.failures)} without a response,"
        f" p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, longest {seconds[-1] * 1000:.0f} ms"
    )
    click.echo(f"longest wait for a lock of a table or row: {longest[False] * 1000:.0f} ms")
    click.echo(f"longest wait of the import for a wallet or the migration: {longest[True] * 1000:.0f} ms")


if __name__ == "__main__":
    main()
