"""A migration while all runs: nobody waits for it long, and what began before it stores nothing after it."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString

import pytest

from tests.ledger import random_trades
from tests.ledger.contents import contents
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, WALLETS, ndjson, price_row, trade_row
from tests.lib.backups import at
from tests.lib.processes import run_command, wallet_api
from tests.lib.versions import migrate_to
from tests.lib.waiting import calm_seconds, eventually, somebody_waits
from wallet_api.database import Connection, connect, migrations
from wallet_api.ledger.rebuild import fill_wallets, rebuild_ledger
from wallet_api.settings import Settings

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
# Those of before one that alters trades.
EARLIER = [name for name in migrations.available() if name < "0011"]
LATER = "9999_of_a_later_version"
ROW = trade_row(ANN, "a", NOW - timedelta(hours=1))
# The sessions of other commands that have waited for them for a second.
_IDLE: LiteralString = """
SELECT count(*) AS n
  FROM pg_stat_activity
 WHERE datname = current_database()
   AND pid <> pg_backend_pid()
   AND application_name = 'wallet-api command'
   AND (state LIKE 'idle%' OR wait_event = 'ClientRead')
   AND clock_timestamp() - state_change > interval '1 second'
"""
_SUMS = """
UPDATE lifetimes SET fast_txn = 0, realized = 0; UPDATE wallet_hours SET buy_txn = 0;
UPDATE token_ranks SET is_renamed = TRUE
"""


def _later_migration(connection: Connection) -> None:
    connection.execute("INSERT INTO schema_migrations (name, checksum) VALUES (%s, '')", [LATER])


@pytest.mark.parametrize("kind", ["trades", "prices", "wallets"])
def test_an_import_that_waits_for_its_rows_during_a_migration_stores_none_of_them(
    database_url: str, connection: Connection, tmp_path: Path, kind: str
) -> None:
    Importer(database_url).wallets(WALLETS[:1])
    rows = {"trades": [ROW], "prices": [price_row("7", NOW)], "wallets": WALLETS[1:]}[kind]
    options = {"cwd": tmp_path, "stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with wallet_api("import", kind, "-", settings=at(database_url), **options) as old:
        assert old.stdin is not None
        old.stdin.write(ndjson(rows[0]).decode())
        old.stdin.flush()
        # It has checked the tables, and waits for more rows.
        assert eventually(lambda: connection.fetch_value(_IDLE) == 1, 30)
        _later_migration(connection)
        _, errors = old.communicate(ndjson(*rows[1:]).decode())
    assert old.returncode == 1
    assert f"does not have their migration {LATER}" in errors
    assert "Start it again" in errors
    for table in ("trades", "positions", "native_prices", "arrivals"):
        assert connection.fetch_value(f"SELECT count(*) AS n FROM {table}") == 0
    assert connection.fetch_value("SELECT count(*) AS n FROM wallets") == 1


WRITERS: dict[str, Callable[[Importer], Any]] = {
    "import wallets": lambda importer: importer.wallets(WALLETS),
    "import prices": lambda importer: importer.prices([price_row("8", NOW)]),
    "import trades": lambda importer: importer.trades([ROW | {"value": "2"}]),
    "remove wallets": lambda importer: importer.remove_wallets([ROW]),
    "remove trades": lambda importer: importer.remove_trades([ROW]),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_is_of_before_a_migration_writes_nothing(
    database_url: str, connection: Connection, write: Callable[[Importer], Any]
) -> None:
    importer = Importer(database_url)
    importer.wallets(WALLETS[:2])
    importer.trades([ROW])
    before = contents(connection, NOW)
    _later_migration(connection)
    with pytest.raises(migrations.SchemaError, match="were changed while this process ran"):
        write(importer)
    assert contents(connection, NOW) == before
    with pytest.raises(migrations.SchemaError):
        rebuild_ledger(connection)


def test_a_migration_waits_for_what_writes_and_lets_it_end(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(empty_database_url) as connection, connect(empty_database_url) as writer:
        migrate_to(connection, EARLIER)
        with writer.transaction():
            with monkeypatch.context() as earlier:
                earlier.setattr(migrations, "available", lambda: EARLIER)
                migrations.hold_tables(writer)
            migrating = _migrate_beside(empty_database_url)
            time.sleep(0.5)
            assert migrating.is_alive()
            assert migrations.inspect(connection).pending
        migrating.join(30)
        assert not migrations.inspect(connection).pending


def test_requests_pass_while_a_migration_waits_for_a_long_report(empty_database_url: str) -> None:
    with (
        connect(empty_database_url) as connection,
        connect(empty_database_url) as report,
        connect(empty_database_url) as request,
    ):
        migrate_to(connection, EARLIER)
        longest = 0.0
        with report.transaction():
            report.execute("SELECT FROM trades")
            migrating = _migrate_beside(empty_database_url)
            assert eventually(lambda: somebody_waits(connection), pause_seconds=0)
            for _ in range(300):
                started = calm_seconds()
                request.execute("SELECT FROM trades")
                longest = max(longest, calm_seconds() - started)
                time.sleep(0.005)
            assert migrating.is_alive()
        migrating.join(30)
        assert not migrations.inspect(connection).pending
    # It waited at most as long as the migration, 100 ms, and never for the report.
    assert longest < 0.5


def test_a_killed_migration_leaves_no_statement_running(empty_database_url: str) -> None:
    with connect(empty_database_url) as connection, connect(empty_database_url) as writer:
        migrate_to(connection, EARLIER)
        with writer.transaction():
            writer.execute("SELECT pg_advisory_xact_lock_shared(7401001)")
            with wallet_api("migrate", settings=at(empty_database_url)) as killed:
                assert eventually(lambda: _waiting_for_writers(connection) == 1, 30)
                killed.send_signal(signal.SIGKILL)
                killed.wait(30)
            # The lock is not free yet.
            assert eventually(lambda: _waiting_for_writers(connection) == 0, 5)
        migrations.migrate(connection)
        assert not migrations.inspect(connection).pending


def test_a_fill_goes_on_where_it_was_interrupted_while_imports_run(
    database_url: str, connection: Connection, settings: Settings
) -> None:
    """As after a migration that adds sums: all are 0 at first, and requests have them at the end."""
    importer = Importer(database_url)
    importer.wallets([*random_trades.wallets(6), *WALLETS])
    rows = random_trades.trades(600, 6, NOW, days=9)
    importer.trades(rows[:500])
    connection.execute(_SUMS)
    connection.execute("UPDATE wallet_fill SET done_until = 0")
    done = []

    def interrupted(wallets: int, of: int) -> None:
        done.append(of)
        if wallets == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_wallets(connection, interrupted)
    assert migrations.inspect(connection).is_filling
    # Imports add to what is filled, and to what is not.
    importer.trades(rows[500:])
    migrated = run_command("migrate", settings=settings)
    assert f"Computed the figures of {done[0] - 3} wallets." in migrated.stdout
    assert not migrations.inspect(connection).is_filling
    assert set(rebuild_ledger(connection).values()) == {0}
    assert run_command("migrate", settings=settings).stdout == "The tables are up to date.\n"


def _migrate_beside(url: str) -> threading.Thread:
    def run() -> None:
        with connect(url) as connection:
            migrations.migrate(connection)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def _waiting_for_writers(connection: Connection) -> int:
    connection.execute("SELECT pg_stat_clear_snapshot()")
    waiting: int = connection.fetch_value(
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return waiting
