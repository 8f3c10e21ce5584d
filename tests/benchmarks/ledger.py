"""Measure the ledger: its import against a raw COPY, its answers at two sizes and against plain SQL.

    python -m tests.benchmarks.ledger [--sizes 100000,1000000] [--wallets 1000] [--calls 200]

Everything is measured in one run, on a server of its own below the folder for temporary files, so ratios may
be compared. 1,000,000 trades take about three minutes on two cores.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.ledger_sql import HISTORY, LEADERBOARD, VOLUME
from wallet_api import embedded, migrations
from wallet_api.access.keys import create_key
from wallet_api.app import create_app
from wallet_api.database import Connection, connect
from wallet_api.demo.world import World, ndjson
from wallet_api.ledger.imports import import_prices, import_trades, import_wallets
from wallet_api.ledger.readers import open_source
from wallet_api.ledger.rows import BadRow, PriceRow, TradeRow, WalletRow
from wallet_api.queries.leaderboard import rank_wallets
from wallet_api.settings import Settings

Measured = dict[str, float]


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of trades, with commas.")
@click.option("--wallets", default=1000, show_default=True)
@click.option("--calls", default=200, show_default=True, help="Timed calls of each operation.")
def main(sizes: str, wallets: int, calls: int) -> None:
    """Print one table of all sizes."""
    results: dict[int, Measured] = {}
    for size in map(int, sizes.split(",")):
        click.echo(f"{size:,} trades …", err=True)
        with tempfile.TemporaryDirectory(prefix="wallet-api-bench-") as home:
            results[size] = _measure(Path(home), size, wallets, calls)
    click.echo("| figure | " + " | ".join(f"{size:,} trades" for size in results) + " |")
    click.echo("|---|" + "---:|" * len(results))
    for name in next(iter(results.values())):
        values = " | ".join(f"{figures[name]:,.2f}" for figures in results.values())
        click.echo(f"| {name} | {values} |")


def _measure(home: Path, trades: int, wallets: int, calls: int) -> Measured:
    world = World(datetime.now(UTC), wallets=wallets, trades=trades)
    files = {"wallets": world.wallet_rows(), "prices": world.price_rows(), "trades": world.trade_rows()}
    for name, rows in files.items():
        with (home / f"{name}.ndjson").open("wb") as file:
            file.writelines(ndjson(rows))
    with ExitStack() as stack:
        settings = stack.enter_context(
            embedded.running(Settings(wallet_api_home=str(home / "home")), valkey=False)
        )
        connection = stack.enter_context(connect(str(settings.database_url)))
        migrations.migrate(connection)
        figures = _import(connection, home, trades)
        connection.execute("VACUUM ANALYZE")
        figures |= _raw_copy(connection, home, trades)
        figures["import : raw COPY"] = figures["import, rows/s"] / figures["raw COPY, rows/s"]
        figures |= _answers(settings, connection, calls)
    return figures


def _import(connection: Connection, home: Path, trades: int) -> Measured:
    with open_source(str(home / "wallets.ndjson")) as source, connect(connection.info.dsn) as own:
        import_wallets(own, source.records(WalletRow), _refuse)
    with open_source(str(home / "prices.ndjson")) as source, connect(connection.info.dsn) as own:
        import_prices(own, source.records(PriceRow), _refuse)
    with open_source(str(home / "trades.ndjson")) as source, connect(connection.info.dsn) as own:
        started = time.monotonic()
        import_trades(own, source.records(TradeRow), _refuse)
        return {"import, rows/s": trades / (time.monotonic() - started)}


def _raw_copy(connection: Connection, home: Path, trades: int) -> Measured:
    connection.execute("CREATE TABLE raw (LIKE trades INCLUDING ALL)")
    file = home / "raw.copy"
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY trades TO STDOUT") as copy,
        file.open("wb") as output,
    ):
        output.writelines(copy)
    connection.execute("CHECKPOINT")
    started = time.monotonic()
    with connection.cursor() as cursor, cursor.copy("COPY raw FROM STDIN") as copy, file.open("rb") as rows:
        for block in _blocks(rows):
            copy.write(block)
    seconds = time.monotonic() - started
    connection.execute("DROP TABLE raw")
    return {"raw COPY, rows/s": trades / seconds}


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(1 << 18):
        yield block


def _answers(settings: Settings, connection: Connection, calls: int) -> Measured:
    key = create_key(connection, "bench", rate="1000000/second")
    app = create_app(replace(settings, answer_ttl_seconds=0.0))
    client = app.test_client()
    heavy, light = _wallet(connection, "DESC"), _wallet(connection, "ASC")
    group = {"blockchain": "solana", "type": "kol"}
    questions: dict[str, tuple[str, dict[str, Any]]] = {
        "list, 50": ("/v1/wallets", group | {"limit": 50}),
        "history, heaviest wallet": ("/v1/wallets/history", _of(heavy)),
        "history, lightest wallet": ("/v1/wallets/history", _of(light)),
        "volume, 24 h": ("/v1/transactions/volume", group),
        "leaderboard 30d, kept": ("/v1/wallet/leaderboard", group | {"period": "30d", "limit": 10}),
    }
    figures: Measured = {"trades of the heaviest wallet": heavy["trades"], "its tokens": heavy["tokens"]}
    for name, (path, parameters) in questions.items():

        def ask(path: str = path, parameters: dict[str, Any] = parameters) -> None:
            answer = client.get(path, query_string=parameters, headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == 200, answer.text

        figures |= _timed(name, ask, calls)
    now = datetime.now(UTC)
    plain = {"wallet_id": heavy["wallet_id"], "now": now} | group
    figures |= _timed(
        "leaderboard 30d, made", lambda: rank_wallets(connection, now, period="30d", **group), 5
    )
    statements = {"heaviest history": HISTORY, "leaderboard 30d": LEADERBOARD, "volume, 24 h": VOLUME}
    for name, statement in statements.items():
        figures |= _timed(
            f"plain SQL, {name}", lambda sql=statement: connection.execute(sql, plain).fetchall(), 3
        )
    services = app.extensions["wallet_api"]
    services.leaderboards.close()
    services.database.close()
    ours = figures["history, heaviest wallet, p50 ms"]
    figures["plain SQL : history, heaviest"] = figures["plain SQL, heaviest history, p50 ms"] / ours
    ours = figures["leaderboard 30d, kept, p50 ms"]
    figures["plain SQL : leaderboard, kept"] = figures["plain SQL, leaderboard 30d, p50 ms"] / ours
    ours = figures["leaderboard 30d, made, p50 ms"]
    figures["plain SQL : leaderboard, made"] = figures["plain SQL, leaderboard 30d, p50 ms"] / ours
    return figures


def _timed(name: str, ask: Callable[[], Any], calls: int) -> Measured:
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


def _wallet(connection: Connection, order: str) -> dict[str, Any]:
    row = connection.execute(
        "SELECT w.wallet_id, w.blockchain, w.type, w.address, sum(p.buy_txn + p.sell_txn)::float8 AS trades,"
        " count(*)::float8 AS tokens FROM positions p JOIN wallets w USING (wallet_id) GROUP BY w.wallet_id"
        f" ORDER BY trades {order}, w.wallet_id LIMIT 1"  # type: ignore[arg-type]
    ).fetchone()
    assert row is not None
    return row


def _of(wallet: dict[str, Any]) -> dict[str, Any]:
    return {name: wallet[name] for name in ("blockchain", "type", "address")}


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise fault


if __name__ == "__main__":
    main()
