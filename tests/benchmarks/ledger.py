"""Measures the ledger: its import against a raw COPY, its answers at several sizes and against other ways.

    python -m tests.benchmarks.ledger [--sizes 100000,1000000] [--calls 200]

All is measured in one run, each size on a server of its own below the folder for temporary files, so that
ratios may be compared. What the figures mean: docs/benchmarks.md.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tests.benchmarks import ledger_duckdb, ledger_report, ledger_sql, ledger_world
from wallet_api import embedded, migrations
from wallet_api.access.keys import create_key
from wallet_api.app import create_app
from wallet_api.database import Connection, connect
from wallet_api.queries.leaderboard import rank_wallets
from wallet_api.settings import Settings

Figures = dict[str, float]
_COMMAND = "from wallet_api.cli import main; main()"
_OTHER_CALLS = 5
_COPIES = 3
_MANY = 1_000_000


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of trades, with commas.")
@click.option("--calls", default=200, show_default=True, help="Timed calls of each operation.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("build"), show_default=True)
def main(sizes: str, calls: int, folder: Path) -> None:
    """Print one table of all sizes; write it as JSON, and as a plot, to the folder."""
    found: dict[int, Figures] = {}
    for size in map(int, sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="wallet-bench-") as home:
            found[size] = _measured(Path(home), size, calls)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench-ledger.json").write_text(json.dumps(found, indent=2) + "\n")
    ledger_report.plot(found, folder / "bench-ledger.svg")
    click.echo(ledger_report.table(found))
    click.echo(f"\nAll figures: {folder}/bench-ledger.json; as a plot: {folder}/bench-ledger.svg")


def _measured(home: Path, trades: int, calls: int) -> Figures:
    _say(f"{trades:,} trades: making them")
    ledger_world.write(home, trades)
    with ExitStack() as stack:
        own = Settings(wallet_api_home=str(home / "home"))
        settings = stack.enter_context(embedded.running(own, valkey=False))
        connection = stack.enter_context(connect(str(settings.database_url)))
        migrations.migrate(connection)
        _say("importing")
        figures = _import(settings, home, trades)
        connection.execute("VACUUM ANALYZE")
        _say("raw COPY")
        figures["raw COPY, rows/s"] = trades / _raw_copy(connection, home, trades)
        figures["import : raw COPY"] = figures["import, rows/s"] / figures["raw COPY, rows/s"]
        _say("asking")
        now = datetime.now(UTC)
        figures |= _answers(settings, connection, now, calls)
        _say("asking otherwise")
        return figures | _other_ways(connection, home, now)


def _import(settings: Settings, home: Path, trades: int) -> Figures:
    environment = os.environ | {"DATABASE_URL": str(settings.database_url)}
    for name in ("wallets", "prices", "trades"):
        command = [sys.executable, "-c", _COMMAND, "import", name, str(home / f"{name}.ndjson"), "--json"]
        started = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        if status:
            raise click.ClickException(
                f"The import of {name} ended with {os.waitstatus_to_exitcode(status)}."
            )
    return {"import, rows/s": trades / seconds, "importer, MB": usage.ru_maxrss / 1024}


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
    file.unlink()
    return statistics.median(times)


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(1 << 18):
        yield block


def _answers(settings: Settings, connection: Connection, now: datetime, calls: int) -> Figures:
    """Each operation through the application, key, limit and all, with no answer shared."""
    key = create_key(connection, "bench", rate="1000000/second")
    app = create_app(replace(settings, answer_ttl_seconds=0.0))
    client = app.test_client()
    group = {"blockchain": ledger_world.BLOCKCHAIN, "type": ledger_world.TYPE}
    questions: dict[str, tuple[str, dict[str, Any]]] = {
        ledger_report.LIST: ("/v1/wallets", group | {"limit": 50}),
        ledger_report.HEAVY: ("/v1/wallets/history", group | {"address": ledger_world.HEAVY}),
        ledger_report.LIGHT: ("/v1/wallets/history", group | {"address": ledger_world.LIGHT}),
        ledger_report.VOLUME: ("/v1/transactions/volume", group),
        ledger_report.BOARD: ("/v1/wallet/leaderboard", group | {"period": "30d", "limit": 10}),
    }
    figures: Figures = {}
    for name, (path, parameters) in questions.items():

        def ask(path: str = path, parameters: dict[str, Any] = parameters) -> None:
            answer = client.get(path, query_string=parameters, headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == 200, answer.text

        figures |= _timed(name, ask, calls)
    app.extensions["wallet_api"].close()
    return figures | _timed(
        ledger_report.MADE, lambda: rank_wallets(connection, now, period="30d", **group), _OTHER_CALLS
    )


def _other_ways(connection: Connection, home: Path, now: datetime) -> Figures:
    row = connection.execute(
        "SELECT wallet_id, sum(buy_txn + sell_txn)::float8 AS trades, count(*)::float8 AS tokens"
        "  FROM positions JOIN wallets USING (wallet_id) WHERE address = %s GROUP BY wallet_id",
        (ledger_world.HEAVY,),
    ).fetchone()
    assert row is not None
    figures: Figures = {"heavy wallet's trades": row["trades"], "its tokens": row["tokens"]}
    values = {"wallet_id": row["wallet_id"], "now": now.isoformat()}
    sums = {
        ledger_report.LIST: ledger_sql.LIST,
        ledger_report.HEAVY: ledger_sql.HISTORY_SUMS,
        ledger_report.VOLUME: ledger_sql.VOLUME_SUMS,
        ledger_report.BOARD: ledger_sql.LEADERBOARD_SUMS,
    }
    walked = {
        ledger_report.HEAVY: ledger_sql.HISTORY_WALKED,
        ledger_report.BOARD: ledger_sql.LEADERBOARD_WALKED,
    }
    with ledger_duckdb.export(connection, home) as duckdb:
        for way, database, statements, calls in (
            ("sums in SQL", connection, sums, _OTHER_CALLS),
            ("same figures in SQL", connection, walked, 1),
            ("sums in DuckDB", duckdb, sums, _OTHER_CALLS),
        ):
            for name, statement in statements.items():

                def ask(database: Any = database, sql: str = statement.format(**values)) -> None:
                    database.execute(sql).fetchall()

                figures |= _timed(f"{way}, {name}", ask, calls)
    return figures


def _timed(name: str, ask: Callable[[], Any], calls: int) -> Figures:
    if calls > 1:
        ask()
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        ask()
        times.append((time.perf_counter() - started) * 1000)
    figures = {f"{name}, p50 ms": statistics.median(times)}
    if calls >= 100:
        figures[f"{name}, p99 ms"] = statistics.quantiles(times, n=100)[98]
    return figures


def _say(what: str) -> None:
    click.echo(f"{what} …", err=True)


if __name__ == "__main__":
    main()
