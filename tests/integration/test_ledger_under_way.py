"""While an import is under way, and when it is killed: each answer is whole, and in the end all are right."""

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.ledger import in_process, random_trades
from wallet_api.database import Connection, connect
from wallet_api.ledger.rebuild import rebuild_ledger

Row = dict[str, Any]

DAYS = 45
HALF_A_UNIT = Decimal("0.0000000005")


def test_every_history_during_an_import_is_of_one_moment(database_url: str, connection: Connection) -> None:
    now = datetime.now(UTC)
    wallets = random_trades.wallets(6)
    importer = in_process.Importer(database_url, batch_rows=4_000)
    importer.wallets(wallets)
    importer.prices(random_trades.prices(now, DAYS))
    rows = random_trades.trades(100_000, 6, now, DAYS, late=0.001)
    seen: set[int] = set()
    answers = 0
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(importer.trades, rows)
        while not importing.done():
            wallet = wallets[answers % 2]
            record = in_process.history(
                connection, now, "solana", wallet["type"], wallet["wallet_address"], limit=5
            )
            assert_whole(record)
            seen.add(record["lifetime_stats"]["total_tx_count"])
            answers += 1
        assert importing.result().landed == len(rows)
    # Else this test has seen nothing of the import.
    assert len(seen) > 10
    assert answers >= len(seen)


def assert_whole(record: Row) -> None:
    """The lifetime figures of a history are the sums of its token_overview, and its trades belong to it."""
    stats, overview = record["lifetime_stats"], record["token_overview"]

    def total(name: str) -> Any:
        return sum(token[name] for token in overview)

    assert stats["buy"] == total("invested")
    assert stats["sell"] == total("sold")
    assert stats["buy_txn"] == total("buy_txn")
    assert stats["sell_txn"] == total("sell_txn")
    assert stats["still_holding_count"] == total("still_holding")
    assert stats["active_tokens_count"] == len(overview)
    # Each token's profit is rounded by itself.
    assert abs(stats["realized_pnl"] - total("realized_pnl")) <= HALF_A_UNIT * (len(overview) + 1)
    assert sum(record["win_rate_distribution"].values()) == stats["total_sold"]
    assert min(5, stats["total_tx_count"]) == len(record["trades"])
    if overview:
        assert record["trades"][0]["created_at"] == overview[0]["last_seen"]


def test_an_importer_killed_at_any_instant_and_run_again_leaves_nothing_wrong(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    wallets, prices = random_trades.wallets(12), random_trades.prices(now, DAYS)
    rows = random_trades.trades(6_000, 12, now, DAYS)
    importer = in_process.Importer(database_url)
    file = tmp_path / "trades.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    importer.wallets(wallets)
    importer.prices(prices)
    importer.trades(rows)
    undisturbed = answers(connection, wallets, now)

    in_process.clear(connection)
    importer.wallets(wallets)
    importer.prices(prices)
    chance = random.Random(7)
    for batches in (0, 1, 3, 6, 10):
        importing = start_import(database_url, file, batch_rows=500)
        assert importing.stdout is not None
        for _ in range(batches):
            assert importing.stdout.readline() == b"landed\n"
        try:
            # Anywhere within the batch that follows.
            importing.wait(timeout=chance.uniform(0, 0.05))
        except subprocess.TimeoutExpired:
            importing.kill()
        importing.communicate()
    again = start_import(database_url, file, batch_rows=500)
    output, _ = again.communicate(timeout=120)
    assert (again.returncode, output.count(b"landed")) == (0, -(-len(rows) // 500))

    assert answers(connection, wallets, now) == undisturbed
    with connect(database_url) as rebuilding:
        assert set(rebuild_ledger(rebuilding).values()) == {0}


def start_import(database_url: str, file: Path, batch_rows: int) -> "subprocess.Popen[bytes]":
    """An importer in a process of its own, which says each batch that landed."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.ledger.importing", str(file), str(batch_rows)],
        env=os.environ | {"DATABASE_URL": database_url},
        stdout=subprocess.PIPE,
    )


def answers(connection: Connection, wallets: list[Row], now: datetime) -> list[Any]:
    """What the service tells of these wallets."""
    told: list[Any] = [
        in_process.history(connection, now, "solana", wallet["type"], wallet["wallet_address"])
        for wallet in wallets
    ]
    for type in random_trades.TYPES:
        told += [
            in_process.leaderboard(connection, now, "solana", type, period) for period in in_process.PERIODS
        ]
        told += [
            in_process.volume(connection, now, "solana", type, seconds) for seconds in (61, 3_601, 86_400)
        ]
    return told
