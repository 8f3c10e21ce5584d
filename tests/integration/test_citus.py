"""A sharded ledger on a real Citus cluster is as one on plain PostgreSQL; `--citus` provides the cluster."""

import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from tests.cluster import Cluster
from tests.ledger import in_process, random_trades
from tests.ledger.contents import contents
from tests.outages import is_our_refusal
from tests.processes import Gunicorn, StartGunicorn, wallet_api
from wallet_api import embedded, migrations
from wallet_api.cli import cli
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.migrations.placement import place_tables
from wallet_api.queries.token_price import DEFAULT_RULE
from wallet_api.settings import Settings

WALLETS = 24
DAYS = 45
# A merge of trades holds locks.
IMPORTING = """
SELECT
  FROM pg_locks
 WHERE locktype = 'advisory'
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture(autouse=True)
def needed_cluster(cluster: Cluster | None) -> Cluster:
    if cluster is None:
        pytest.skip("needs the option --citus, and CITUS_BIN")
    return cluster


@pytest.fixture
def plain_url() -> Iterator[str]:
    """The URL of a database on plain PostgreSQL, with all tables and no rows."""
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-plain-") as home,
        embedded.running(Settings(wallet_api_home=home)) as running,
    ):
        url = str(running.database_url)
        with connect(url) as connection:
            migrations.migrate(connection)
        yield url


@pytest.fixture
def plain(plain_url: str) -> Iterator[Connection]:
    """A connection to the same database."""
    with connect(plain_url) as connection:
        yield connection


def fill(connection: Connection, now: datetime) -> list[dict[str, Any]]:
    wallets = random_trades.wallets(WALLETS)
    importer = in_process.Importer(connection.info.dsn, batch_rows=700)
    importer.wallets(wallets)
    importer.trades(random_trades.trades(2500, WALLETS, now, DAYS))
    importer.prices(random_trades.prices(now, DAYS))
    importer.wallets([{**wallets[0], "type": "whale"}])
    importer.remove_wallets(wallets[-1:])
    return wallets[1:-1]


def answers(connection: Connection, now: datetime, wallets: list[dict[str, Any]]) -> dict[Any, Any]:
    """What each operation answers."""
    found: dict[Any, Any] = {}
    for wallet in wallets:
        address, type = wallet["wallet_address"], wallet["type"]
        own: tuple[Any, ...] = (connection, now, "solana", address)
        found["history", address] = in_process.history(connection, now, "solana", type, address, limit=20)
        found["calendar", address] = in_process.calendar(*own)
        found["connections", address] = in_process.connections(*own)
        for period in in_process.PERIODS:
            found["tracker", address, period] = in_process.tracker(*own, period)
    mints = [row["mint"] for row in connection.execute("SELECT mint FROM tokens ORDER BY mint")]
    for type in random_trades.TYPES:
        group: tuple[Any, ...] = (connection, now, "solana", type)
        for period in in_process.PERIODS:
            found["leaderboard", type, period] = in_process.leaderboard(*group, period)
            found["analytics", type, period] = in_process.analytics(*group, period, DEFAULT_RULE)
        for mint in (None, *mints[:5]):
            found["latest", type, mint] = in_process.latest(*group, mint, limit=100)
            for seconds in (60, 3600, 86_400):
                found["volume", type, mint, seconds] = in_process.volume(*group, seconds, mint)
                found["count", type, mint, seconds] = in_process.count(*group, seconds, mint)
    for mint in mints:
        found["token", mint] = in_process.token(connection, now, "solana", mint)
        found["stats", mint] = in_process.token_stats(connection, now, "solana", mint, None, DEFAULT_RULE)
        found["holders", mint] = in_process.token_holders(connection, now, "solana", mint, "kol")
    return found


def test_figures_are_those_of_plain_postgresql_and_a_rebuild_changes_nothing(
    plain: Connection, connection: Connection
) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    wallets = fill(plain, now)
    assert fill(connection, now) == wallets
    assert contents(connection, now) == contents(plain, now)
    expected = answers(plain, now, wallets)
    found = answers(connection, now, wallets)
    assert [key for key in expected if found[key] != expected[key]] == []
    assert not any(rebuild_ledger(connection).values())
    assert contents(connection, now) == contents(plain, now)


def test_migrate_places_the_tables_once(empty_database_url: str) -> None:
    outcomes = [
        CliRunner().invoke(cli, ["migrate"], env={"DATABASE_URL": empty_database_url}) for _ in range(2)
    ]
    assert [outcome.exit_code for outcome in outcomes] == [0, 0], outcomes[0].output
    assert "Placed on the workers: wallets, " in outcomes[0].output
    assert outcomes[1].output.endswith("\nThe tables are up to date.\n")
    with connect(empty_database_url) as connection:
        assert place_tables(connection) == []


def test_a_plain_ledger_moves_by_backup_and_restore(
    plain: Connection, plain_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    wallets = fill(plain, now)
    dump = str(tmp_path / "ledger.dump")
    for url, command in (
        (plain_url, ["backup", dump]),
        (empty_database_url, ["restore", dump]),
        (empty_database_url, ["migrate"]),
    ):
        outcome = CliRunner().invoke(cli, command, env={"DATABASE_URL": url})
        assert outcome.exit_code == 0, outcome.output
    with connect(empty_database_url) as connection:
        assert contents(connection, now) == contents(plain, now)
        assert answers(connection, now, wallets[:2]) == answers(plain, now, wallets[:2])
        assert not any(rebuild_ledger(connection).values())


class Asked:
    """A service on the cluster, and the calendars of all wallets that it answers."""

    def __init__(self, gunicorn: Gunicorn, key: str, wallets: list[dict[str, Any]]) -> None:
        self._url = f"{gunicorn.url}/v1/wallet/pnl_calendar"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._wallets = wallets

    def statuses(self) -> Counter[int]:
        """Ask for each calendar; every refusal is one that callers know."""
        found: Counter[int] = Counter()
        for wallet in self._wallets:
            response = requests.get(
                self._url,
                {"blockchain": "solana", "address": wallet["wallet_address"]},
                headers=self._headers,
                timeout=60,
            )
            assert response.status_code == 200 or is_our_refusal(response), response.text
            found[response.status_code] += 1
        return found

    def recovers(self) -> None:
        """Come back when all calendars are there again."""
        deadline = time.monotonic() + 60
        while set(self.statuses()) != {200}:
            assert time.monotonic() < deadline
            time.sleep(0.5)


@pytest.fixture
def asked(gunicorn: StartGunicorn, connection: Connection) -> Asked:
    wallets = fill(connection, datetime.now(UTC))
    key = create_key(connection, "caller", rate="100000/second")
    return Asked(gunicorn(workers=1), key, wallets)


def test_while_a_worker_is_away_its_wallets_are_refused_and_no_others(
    asked: Asked, needed_cluster: Cluster
) -> None:
    assert set(asked.statuses()) == {200}
    worker = needed_cluster.workers[0]
    worker.kill()
    try:
        # What was answered just now may be answered again.
        time.sleep(1)
        assert set(asked.statuses()) == {200, 503}
    finally:
        worker.server.start()
    asked.recovers()


def test_after_a_restart_of_the_coordinator_the_service_goes_on(
    asked: Asked, needed_cluster: Cluster
) -> None:
    assert set(asked.statuses()) == {200}
    needed_cluster.coordinator.kill()
    try:
        time.sleep(1)
        assert set(asked.statuses()) == {503}
    finally:
        needed_cluster.coordinator.server.start()
    asked.recovers()


def test_shards_move_while_answers_go_on(
    asked: Asked, connection: Connection, needed_cluster: Cluster
) -> None:
    shards = connection.execute(
        "SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'trades'::regclass LIMIT 2"
    ).fetchall()
    ports = {worker.port for worker in needed_cluster.workers}
    statuses: Counter[int] = Counter()
    moved = threading.Event()

    def ask() -> None:
        while not moved.is_set():
            statuses.update(asked.statuses())

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for shard in shards:
            (other,) = ports - {shard["nodeport"]}
            connection.execute(
                "SELECT citus_move_shard_placement(%s, '127.0.0.1', %s, '127.0.0.1', %s)",
                [shard["shardid"], shard["nodeport"], other],
            )
    finally:
        moved.set()
        asking.join()
    assert set(statuses) == {200}


def test_an_import_that_lost_a_worker_is_whole_after_the_next(
    plain: Connection, connection: Connection, settings: Settings, needed_cluster: Cluster, tmp_path: Path
) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    wallets = random_trades.wallets(WALLETS)
    rows = random_trades.trades(40_000, WALLETS, now, DAYS)
    for url in (plain.info.dsn, connection.info.dsn):
        in_process.Importer(url).wallets(wallets)
    in_process.Importer(plain.info.dsn).trades(rows)
    file = tmp_path / "trades.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    worker = needed_cluster.workers[0]
    importer = wallet_api("import", "trades", str(file), settings=settings)
    while connection.execute(IMPORTING).fetchone() is None:
        assert importer.poll() is None
    worker.kill()
    try:
        output, _ = importer.communicate(timeout=60)
        assert importer.returncode == 1, output
    finally:
        worker.server.start()
    in_process.Importer(connection.info.dsn).trades(rows)
    assert contents(connection, now) == contents(plain, now)
    assert not any(rebuild_ledger(connection).values())
