"""A sharded ledger beside plain PostgreSQL: `python -m tests.benchmarks.citus`; needs CITUS_BIN.

Both take the same files in and answer the same questions in turn, on this machine.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tests.benchmarks import ledger_world
from tests.lib.cluster import programs, running_cluster
from wallet_api import embedded, migrations
from wallet_api.app import create_app
from wallet_api.database import connect
from wallet_api.keys import create_key
from wallet_api.migrations.placement import place_tables
from wallet_api.periods import BOARD_PERIODS
from wallet_api.queries.leaderboard import read_entries
from wallet_api.settings import Settings

GROUP = {"blockchain": ledger_world.BLOCKCHAIN, "type": ledger_world.TYPE}
WALLET = {"blockchain": ledger_world.BLOCKCHAIN, "address": ledger_world.LIGHT}
# The operations by path, with what they are asked.
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "list": ("/v1/wallets", GROUP | {"limit": 50}),
    "history": ("/v1/wallets/history", GROUP | WALLET),
    "calendar": ("/v1/wallet/pnl_calendar", WALLET),
    "tracker": ("/v1/wallets/tracker", WALLET | {"period": "7d"}),
    "connections": ("/v1/wallets/connections", WALLET),
    "volume": ("/v1/transactions/volume", GROUP),
    "count": ("/v1/transactions/count", GROUP | {"hours": 1}),
    "latest": ("/v1/transactions/latest", GROUP | {"limit": 50}),
    "analytics": ("/v1/analytics", GROUP | {"period": "7d", "mode": "most_traded"}),
}


@dataclass
class Side:
    """A ledger, and what was measured of it: medians in milliseconds, and rows of the import per second."""

    settings: Settings
    figures: dict[str, float]


@click.command()
@click.option("--trades", default=100_000, show_default=True)
@click.option("--calls", default=50, show_default=True, help="Timed calls of each operation.")
@click.option("--shards", default=4, show_default=True, help="Shards of each table.")
def main(trades: int, calls: int, shards: int) -> None:
    """Print a table of both."""
    folder = programs()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-bench-")))
        ledger_world.write(home, trades)
        own = Settings(wallet_api_home=str(home / "home"))
        plain = stack.enter_context(embedded.running(own))
        cluster = stack.enter_context(running_cluster(folder))
        sharded = replace(plain, database_url=cluster.create("bench"))
        with connect(str(sharded.database_url)) as connection:
            connection.execute(f"ALTER DATABASE bench SET citus.shard_count = {shards}".encode())
        sides = [Side(plain, {}), Side(sharded, {})]
        for side in sides:
            side.figures["import, rows/s"] = _import(side, home, trades)
        _ask_in_turn(sides, calls)
    click.echo(f"| {trades:,} trades | plain | two workers, {shards} shards | ratio |\n|---|---|---|---|")
    for name, figure in sides[0].figures.items():
        other = sides[1].figures[name]
        click.echo(f"| {name} | {figure:,.1f} | {other:,.1f} | {other / figure:.2f} |")


def _import(side: Side, home: Path, trades: int) -> float:
    with connect(str(side.settings.database_url)) as connection:
        migrations.migrate(connection)
        place_tables(connection)
    for name in ("wallets", "prices", "trades"):
        started = time.monotonic()
        with ledger_world.importing(side.settings, home, name):
            pass
    rate = trades / (time.monotonic() - started)
    with connect(str(side.settings.database_url)) as connection:
        connection.execute("VACUUM ANALYZE")
    return rate


def _ask_in_turn(sides: list[Side], calls: int) -> None:
    with ExitStack() as stack:
        questions = [stack.enter_context(_questions(side.settings)) for side in sides]
        for name in questions[0]:
            times: list[list[float]] = [[] for _ in sides]
            for call in range(calls + 5):
                for asked, taken in zip(questions, times, strict=True):
                    started = time.perf_counter()
                    asked[name]()
                    # The first calls connect and plan.
                    if call >= 5:
                        taken.append(time.perf_counter() - started)
            for side, taken in zip(sides, times, strict=True):
                side.figures[f"{name}, ms"] = 1000 * statistics.median(taken)


@contextmanager
def _questions(settings: Settings) -> Iterator[dict[str, Callable[[], None]]]:
    """Each operation through the application, with no answer shared."""

    with connect(str(settings.database_url)) as connection:
        key = create_key(connection, "bench", rate="1000000/second")
        if connection.is_sharded:
            connection.execute("SET plan_cache_mode = auto")
        app = create_app(replace(settings, answer_ttl_seconds=0.0, leaderboard_ttl_seconds=0.0))
        client = app.test_client()

        def asking(path: str, parameters: dict[str, Any]) -> Callable[[], None]:
            def ask() -> None:
                headers = {"Authorization": f"Bearer {key}"}
                answer = client.get(path, query_string=parameters, headers=headers)
                assert answer.status_code == 200, answer.text

            return ask

        def board(period: str) -> Callable[[], None]:
            return lambda: read_entries(connection, datetime.now(UTC), period=period, **GROUP) and None

        yield {name: asking(*question) for name, question in QUESTIONS.items()} | {
            f"board, {period}": board(period) for period in BOARD_PERIODS
        }
        app.extensions["wallet_api"].close()


if __name__ == "__main__":
    main()
