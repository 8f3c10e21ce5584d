"""A sharded ledger on a real Citus cluster is as one on plain PostgreSQL; `--citus` provides the cluster."""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.ledger import in_process, random_trades
from tests.ledger.contents import contents
from tests.ledger.figures import Figures, figures
from tests.ledger.rows import written
from tests.lib.backups import at
from tests.lib.cluster import Cluster
from tests.lib.outages import is_our_refusal
from tests.lib.processes import Gunicorn, StartGunicorn, run_command, wallet_api
from tests.lib.versions import migrate_to
from tests.lib.waiting import repeated
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, connect, load_sql, migrations
from wallet_api.database.migrations import SchemaError
from wallet_api.database.migrations.placement import place_tables
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.operate import embedded
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


def all_figures(connection: Connection, now: datetime) -> Figures:
    """Return the figures of all operations, with those of some tokens."""
    tokens = connection.execute("SELECT blockchain, mint FROM tokens ORDER BY mint LIMIT 5")
    mints = [(row["blockchain"], row["mint"]) for row in tokens]
    return figures(connection, now, [60, 3600, 86_400], mints, limit=100)


def test_migrate_places_the_tables_once(empty_database_url: str) -> None:
    outcomes = [run_command("migrate", settings=at(empty_database_url)) for _ in range(2)]
    assert [outcome.exit_code for outcome in outcomes] == [0, 0], outcomes[0].output
    assert "Placed on the workers: wallets, " in outcomes[0].output
    assert outcomes[1].output.endswith("\nThe tables are up to date.\n")
    with connect(empty_database_url) as connection:
        assert place_tables(connection) == []


def test_a_version_of_citus_that_loses_rows_is_refused(empty_database_url: str) -> None:
    with connect(empty_database_url) as connection:
        connection.execute("UPDATE pg_extension SET extversion = '13.0-1' WHERE extname = 'citus'")
        with pytest.raises(SchemaError, match="Install Citus 14 or newer"):
            place_tables(connection)


def test_a_plain_ledger_moves_by_backup_and_restore(
    plain: Connection, plain_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    fill(plain, now)
    dump = str(tmp_path / "ledger.dump")
    for url, command in (
        (plain_url, ["backup", dump]),
        (empty_database_url, ["restore", dump]),
        (empty_database_url, ["migrate"]),
    ):
        outcome = run_command(*command, settings=at(url))
        assert outcome.exit_code == 0, outcome.output
    with connect(empty_database_url) as connection:
        assert contents(connection, now) == contents(plain, now)
        assert all_figures(connection, now) == all_figures(plain, now)
        assert not any(rebuild_ledger(connection).values())


def test_a_cluster_is_upgraded_in_place(plain: Connection, empty_database_url: str) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    with connect(empty_database_url) as connection:
        migrate_to(connection, migrations.available()[:9])
        _place_those_of_then(connection)
        outcome = run_command("migrate", settings=at(empty_database_url))
        assert outcome.exit_code == 0, outcome.output
        for each in (plain, connection):
            fill(each, now)
        # What a later version has created is on the workers, too.
        assert all_figures(connection, now) == all_figures(plain, now)


def _place_those_of_then(connection: Connection) -> None:
    """Place what there is, as the version that made it did."""
    found = "SELECT to_regclass(%(name)s) IS NOT NULL OR to_regproc(%(name)s) IS NOT NULL AS found"
    for statement in load_sql("wallet_api.database.migrations", "citus").split(";\n"):
        name = re.search(r"(?:create_(?:reference|distributed)_table\('|ALTER FUNCTION )(\w+)", statement)
        if name is None or connection.fetch_value(found, {"name": name[1]}):
            connection.execute(statement)


class Calendars:
    """A service on the cluster, and the calendars of all wallets that it answers."""

    def __init__(self, gunicorn: Gunicorn, key: str, wallets: list[dict[str, Any]]) -> None:
        self._url = f"{gunicorn.url}/v1/wallet/pnl_calendar"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._wallets = wallets

    def statuses(self) -> Counter[int]:
        """Request each calendar; every refusal is one that callers know."""
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
def calendars(gunicorn: StartGunicorn, connection: Connection) -> Calendars:
    wallets = fill(connection, datetime.now(UTC))
    key = create_key(connection, "caller", rate="100000/second")
    return Calendars(gunicorn(workers=1), key, wallets)


@pytest.mark.parametrize(("node", "statuses"), [("worker", {200, 503}), ("coordinator", {503})])
def test_while_a_node_is_away_its_wallets_are_refused_and_no_others(
    calendars: Calendars, needed_cluster: Cluster, node: str, statuses: set[int]
) -> None:
    assert set(calendars.statuses()) == {200}
    away = needed_cluster.coordinator if node == "coordinator" else needed_cluster.workers[0]
    away.kill()
    try:
        # What was answered just now may be answered again.
        time.sleep(1)
        assert set(calendars.statuses()) == statuses
    finally:
        away.server.start()
    calendars.recovers()


def test_shards_move_while_answers_go_on(
    calendars: Calendars, connection: Connection, needed_cluster: Cluster
) -> None:
    shards = connection.execute(
        "SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'trades'::regclass LIMIT 2"
    ).fetchall()
    ports = {worker.port for worker in needed_cluster.workers}
    statuses: Counter[int] = Counter()
    with repeated(lambda: statuses.update(calendars.statuses())):
        for shard in shards:
            (other,) = ports - {shard["nodeport"]}
            connection.execute(
                "SELECT citus_move_shard_placement(%s, '127.0.0.1', %s, '127.0.0.1', %s)",
                [shard["shardid"], shard["nodeport"], other],
            )
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
    file = written(tmp_path / "trades.ndjson", *rows)
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
