"""Kill importers and PostgreSQL at random instants, run the import again, and compare every answer.

    python -m tests.benchmarks.kill_importer [--rows 100000] [--kills 20] [--server-kills 5] [--seed 1]

Each round begins with an empty ledger, kills with SIGKILL while the trades are taken in, and runs the same
import again. Then every answer has to equal that of an import that nobody disturbed, and a rebuild has to
find nothing to change. Everything runs in a folder of its own below the one for temporary files.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tests.ledger import in_process, random_trades
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.settings import Settings

WALLETS = 40
DAYS = 45
BATCH_ROWS = 5_000


class Bench:
    """A server of its own, that can be killed and started again, and a file of trades."""

    def __init__(self, home: Path, rows: int) -> None:
        self._settings = Settings(wallet_api_home=str(home))
        self._postmaster = home / "postgres" / "postmaster.pid"
        self._server = ExitStack()
        self._now = datetime.now(UTC).replace(microsecond=0)
        self._file = home / "trades.ndjson"
        self.url = ""
        self.start()
        with connect(self.url) as connection:
            migrations.migrate(connection)
        trades = random_trades.trades(rows, WALLETS, self._now, DAYS, late=0.01)
        self._file.write_text("".join(json.dumps(row) + "\n" for row in trades))

    def start(self) -> None:
        """Start the server."""
        self.url = str(
            self._server.enter_context(embedded.running(self._settings, valkey=False)).database_url
        )

    def kill_server(self) -> None:
        """Kill the server with SIGKILL, and start it again."""
        os.kill(int(self._postmaster.read_text().split()[0]), signal.SIGKILL)
        self._server.close()
        self.start()

    def close(self) -> None:
        """Stop the server."""
        self._server.close()

    def begin(self) -> None:
        """Leave nothing of a round before, and take in all but the trades."""
        with connect(self.url) as connection:
            in_process.clear(connection)
        importer = in_process.Importer(self.url)
        importer.wallets(random_trades.wallets(WALLETS))
        importer.prices(random_trades.prices(self._now, DAYS))

    def start_import(self) -> "subprocess.Popen[bytes]":
        """An importer of the trades in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.ledger.importing", str(self._file), str(BATCH_ROWS)],
            env=os.environ | {"DATABASE_URL": self.url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def import_whole(self) -> float:
        """Run the import to its end; how many seconds it took."""
        started = time.monotonic()
        status = self.start_import().wait()
        if status:
            raise click.ClickException(f"an import that nobody disturbed ended with status {status}")
        return time.monotonic() - started

    def answers(self) -> list[Any]:
        """What the service would tell of every wallet and group."""
        with connect(self.url) as connection:
            told: list[Any] = []
            for wallet in random_trades.wallets(WALLETS):
                told.append(
                    in_process.history(
                        connection, self._now, "solana", wallet["type"], wallet["wallet_address"]
                    )
                )
            for type in random_trades.TYPES:
                told += [
                    in_process.leaderboard(connection, self._now, "solana", type, period)
                    for period in in_process.PERIODS
                ]
                told += [
                    in_process.volume(connection, self._now, "solana", type, seconds)
                    for seconds in (61, 3_601, 86_400)
                ]
            return told

    def landed(self) -> int:
        """How many trades the ledger holds."""
        with connect(self.url) as connection:
            row = connection.execute("SELECT count(*) AS n FROM trades").fetchone()
        assert row is not None
        return int(row["n"])

    def rebuilt(self) -> int:
        """How many rows a rebuild finds wrong."""
        with connect(self.url) as connection:
            return sum(rebuild_ledger(connection).values())


@click.command()
@click.option("--rows", default=100_000, show_default=True, help="Trades of the file.")
@click.option("--kills", default=20, show_default=True, help="Rounds in which the importer is killed.")
@click.option("--server-kills", default=5, show_default=True, help="Rounds in which PostgreSQL is killed.")
@click.option("--seed", default=1, show_default=True, help="Of the instants at which is killed.")
def main(rows: int, kills: int, server_kills: int, seed: int) -> None:
    """Kill, run again, compare."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="wallet-api-kills-") as folder:
        bench = Bench(Path(folder), rows)
        try:
            bench.begin()
            seconds = bench.import_whole()
            undisturbed = bench.answers()
            click.echo(f"Undisturbed: {rows} rows in {seconds:.1f} s; {bench.landed()} trades.")

            def kill_importer(importing: "subprocess.Popen[bytes]") -> None:
                importing.kill()

            def kill_server(importing: "subprocess.Popen[bytes]") -> None:
                bench.kill_server()

            rounds: list[tuple[str, Callable[[subprocess.Popen[bytes]], None]]] = [
                *[("importer", kill_importer)] * kills,
                *[("PostgreSQL", kill_server)] * server_kills,
            ]
            wrong = sum(
                not _round(bench, name, kill, chance.uniform(0, seconds), undisturbed)
                for name, kill in rounds
            )
        finally:
            bench.close()
    click.echo(f"{len(rounds)} kills; {wrong} left an answer other than the undisturbed one.")
    sys.exit(1 if wrong else 0)


def _round(
    bench: Bench,
    name: str,
    kill: Callable[["subprocess.Popen[bytes]"], None],
    after_seconds: float,
    undisturbed: list[Any],
) -> bool:
    bench.begin()
    importing = bench.start_import()
    try:
        importing.wait(timeout=after_seconds)
    except subprocess.TimeoutExpired:
        kill(importing)
    importing.wait()
    landed = bench.landed()
    bench.import_whole()
    equal = bench.answers() == undisturbed
    found = bench.rebuilt()
    verdict = "equal" if equal and not found else f"NOT EQUAL, {found} rows wrong"
    click.echo(f"{name} killed after {after_seconds:5.2f} s with {landed:7d} trades landed; then {verdict}.")
    return equal and not found


if __name__ == "__main__":
    main()
