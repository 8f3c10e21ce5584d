"""What the statements that read a group's trades of a window cost PostgreSQL, in ledgers of several sizes.

    python -m tests.benchmarks.growth [--sizes 50000,500000,2000000] [--keep FOLDER]

prints the table of docs/scaling.md: CPU milliseconds of one process, nothing cached, the least of three. The
ledgers are made in SQL, all trades in one group of 1,000 wallets. The newest trades of kept ones grow old.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import psutil

from tests.benchmarks.ledger_world import GROUP
from tests.ledger.alone import ledger_alone
from wallet_api.base.periods import PERIODS
from wallet_api.database import Connection, Database, connect, load_statements
from wallet_api.queries.analytics import read_most_traded
from wallet_api.queries.leaderboard_page import read_board
from wallet_api.queries.net_flow import read_flows
from wallet_api.queries.signals import SignalOptions, group_signals
from wallet_api.queries.volume_trend import volume_trend

ROUNDS = 3
LONGEST_SECONDS = 600.0
_MAKE = load_statements(__package__, "growth")
_IS_MADE = "SELECT EXISTS (SELECT FROM lifetimes) AS found"

Question = Callable[[Connection, datetime], Any]


def _questions() -> dict[str, Question]:
    def about(read: Callable[..., Any], period: str, **options: Any) -> Question:
        return lambda connection, now: read(connection, now, GROUP | {"period": period}, **options)

    def signals(mode: str, hours: int) -> Question:
        return lambda connection, now: group_signals(
            connection, now, SignalOptions(**GROUP, mode=mode, hours=hours)
        )

    return {
        **{f"most_traded {period}": about(read_most_traded, period) for period in ("7d", "30d")},
        **{f"volume_trend {period}": about(volume_trend, period) for period in PERIODS},
        **{f"net_flow {period}": about(read_flows, period) for period in ("1d", "7d")},
        **{f"leaderboard {period}": about(read_board, period) for period in ("7d", "30d")},
        "leaderboard 7d with charts": about(read_board, "7d", with_charts=True),
        **{
            f"signals {mode}, {hours} h": signals(mode, hours)
            for mode, hours in (("cluster", 24), ("cluster", 168), ("exit", 168))
        },
    }


@click.command()
@click.option("--sizes", default="50000,500000,2000000", show_default=True, help="Numbers of trades.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the ledgers below this folder.")
@click.option("--only", default="", help="Questions whose name this expression finds.")
def main(sizes: str, keep: Path | None, only: str) -> None:
    """Print the table."""
    wanted = {name: question for name, question in _questions().items() if re.search(only, name)}
    figures = {size: _measured(size, keep, wanted) for size in map(int, sizes.split(","))}
    print("| | " + " | ".join(f"{size:,}" for size in figures) + " |")
    print("|---|" + "---:|" * len(figures))
    for name in wanted:
        print(f"| {name} | " + " | ".join(f"{found[name]:,.0f}" for found in figures.values()) + " |")


def _measured(trades: int, keep: Path | None, questions: Mapping[str, Question]) -> dict[str, float]:
    with _ledger(trades, keep) as connection:
        process = psutil.Process(connection.info.backend_pid)

        def cost(question: Question) -> float:
            before = process.cpu_times()
            question(connection, datetime.now(UTC) - timedelta(seconds=1))
            after = process.cpu_times()
            return (after.user + after.system - before.user - before.system) * 1000

        found = {}
        for name, question in questions.items():
            found[name] = min(cost(question) for _ in range(ROUNDS))
            click.echo(f"{trades:,}: {name}: {found[name]:,.0f} ms", err=True)
        return found


@contextmanager
def _ledger(trades: int, keep: Path | None) -> Iterator[Connection]:
    kept = keep and keep / str(trades)
    with ledger_alone(kept) as settings:
        with connect(str(settings.database_url)) as connection:
            if not connection.fetch_value(_IS_MADE):
                click.echo(f"making a ledger of {trades:,} trades …", err=True)
                connection.execute("SET work_mem = '256MB'")
                for statement in _MAKE.values():
                    connection.execute(statement, {"trades": trades})
                connection.execute("VACUUM ANALYZE")
        # A connection of the service, for its plans. It may take longer, as in a larger ledger.
        pools = Database(replace(settings, statement_timeout_seconds=LONGEST_SECONDS))
        with closing(pools), pools.read() as reader:
            # What parallel workers use would not be counted.
            reader.execute("SET max_parallel_workers_per_gather = 0")
            yield reader


if __name__ == "__main__":
    main()
