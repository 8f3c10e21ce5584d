"""The tables: created, upgraded in place, and refused where this version does not fit."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import pytest
import requests
from click.testing import Result
from psycopg.sql import SQL, Identifier

from tests.ledger import random_trades
from tests.ledger.contents import contents
from tests.ledger.in_process import Importer
from tests.lib.processes import Process, StartGunicorn, run_command, run_program
from tests.lib.running_up import free_port
from tests.lib.waiting import eventually, somebody_waits
from wallet_api import migrations
from wallet_api.chains import CHAINS
from wallet_api.database import Connection, connect
from wallet_api.embedded import postgres
from wallet_api.settings import Settings

NAMES = migrations.available()
LATER = "9999_of_a_later_version"
NEWER: LiteralString = f"INSERT INTO schema_migrations (name, checksum) VALUES ('{LATER}', '')"
UNRELEASED: LiteralString = "UPDATE schema_migrations SET name = replace(name, '000', '001')"

# Tables that this version cannot use, and what is said of them.
unfit = pytest.mark.parametrize(
    ("change", "message"),
    [
        (NEWER, f"The tables are newer than this version of wallet-api: it does not have {LATER}"),
        (UNRELEASED, "The tables are of a version before the first release, and cannot be upgraded. Import"),
    ],
    ids=["newer", "unreleased"],
)

Run = Callable[..., Result]


@pytest.fixture
def run(empty_database_url: str, tmp_path: Path) -> Run:
    """Runs `wallet-api` with these arguments on the database that had no tables."""
    settings = Settings(database_url=empty_database_url, wallet_api_home=str(tmp_path / "home"))
    return partial(run_command, settings=settings)


def schema_of(url: str) -> str:
    """What pg_dump says of the schema."""
    program = postgres.programs() / "pg_dump"
    dumped = run_program(
        [program, "--schema-only", "--no-owner", "--no-privileges", url],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    # A random word, and a number that PostgreSQL 15.20 gives to each column, are others in each dump.
    return "\n".join(
        line for line in dumped.splitlines() if "restrict " not in line and "SET (pg_attver=" not in line
    )


def names_of(connection: Connection) -> list[str]:
    """The migrations that are noted as applied."""
    return [row["name"] for row in connection.execute("SELECT name FROM schema_migrations ORDER BY name")]


def test_an_upgraded_schema_is_the_fresh_one(
    empty_database_url: str, database_url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(empty_database_url) as connection:
        with monkeypatch.context() as earlier:
            earlier.setattr(migrations, "available", lambda: NAMES[:1])
            assert migrations.migrate(connection) == NAMES[:1]
        upgraded = run("migrate")
        assert upgraded.exit_code == 0, upgraded.output
        assert names_of(connection) == NAMES
    fresh = schema_of(database_url)
    assert "CREATE TABLE public.lifetimes" in fresh
    assert schema_of(empty_database_url) == fresh


def test_a_database_without_utf8_is_refused(empty_database_url: str, tmp_path: Path) -> None:
    with connect(empty_database_url) as connection:
        name = connection.info.dbname
        ascii_name = Identifier(f"{name}_ascii")
        create = SQL(
            "CREATE DATABASE {} TEMPLATE template0 LOCALE_PROVIDER libc ENCODING SQL_ASCII LOCALE 'C'"
        )
        connection.execute(create.format(ascii_name))
        try:
            url = empty_database_url.replace(name, f"{name}_ascii")
            settings = Settings(database_url=url, wallet_api_home=str(tmp_path / "home"))
            refused = run_command("migrate", settings=settings)
        finally:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(ascii_name))
    assert refused.exit_code == 1
    assert "has the encoding SQL_ASCII" in str(refused.exception)
    assert "createdb --template=template0 --encoding=UTF8" in str(refused.exception)


# The tables before the migration, but for the step of the walk, which it replaces.
BEFORE_SUMS: LiteralString = """
ALTER TABLE trades DROP COLUMN tokens_without_cost;
ALTER TYPE walk_state DROP ATTRIBUTE tokens_without_cost;
ALTER TABLE positions DROP COLUMN tokens_without_cost, DROP COLUMN hold_seconds, DROP COLUMN hold_cost;
ALTER TABLE position_days DROP COLUMN tokens_without_cost, DROP COLUMN first_buy;
ALTER TABLE wallet_days DROP COLUMN bought_tokens, DROP COLUMN sold_tokens, DROP COLUMN tokens_without_cost;
ALTER TABLE wallet_days RENAME COLUMN invested TO bought;
ALTER TABLE wallet_days RENAME COLUMN invested_usd TO bought_usd;
ALTER TABLE wallet_days RENAME COLUMN invested_without_usd TO bought_without_usd;
ALTER TABLE lifetimes
 DROP COLUMN covered_txn, DROP COLUMN buys_without_usd, DROP COLUMN sells_without_usd,
 DROP COLUMN covered_without_usd, DROP COLUMN invested_usd, DROP COLUMN sold_usd,
 DROP COLUMN invested_without_usd, DROP COLUMN sold_without_usd, DROP COLUMN bought_tokens,
 DROP COLUMN sold_tokens, DROP COLUMN tokens_without_cost, DROP COLUMN realized_usd,
 DROP COLUMN hold_seconds, DROP COLUMN hold_cost, DROP COLUMN first_buy, DROP COLUMN first_seen;
ALTER TABLE volume_rollup RENAME COLUMN txn_without_usd TO unpriced_txn;
ALTER TABLE volume_rollup RENAME COLUMN volume_without_usd TO unpriced_volume;
DELETE FROM schema_migrations WHERE name = '0022_sums'
"""


def test_an_upgrade_fills_the_sums_that_tables_did_not_have(
    connection: Connection, database_url: str, settings: Settings
) -> None:
    random_trades.fill(Importer(database_url), 12, 2_000)
    now = datetime.now(UTC)
    imported = contents(connection, now)
    assert any(row["tokens_without_cost"] for row in imported["lifetimes"].values())
    for statement in BEFORE_SUMS.split(";"):
        connection.execute(statement)
    assert migrations.migrate(connection) == ["0022_sums"]
    assert contents(connection, now) == imported
    rebuilt = run_command("rebuild", settings=settings)
    assert "All derived figures were correct." in rebuilt.output


# The tables before the migration, but for position_days, which it creates again.
BEFORE_BOARDS: LiteralString = """
ALTER TABLE lifetimes
 DROP COLUMN sold_below_zero, DROP COLUMN sold_above_zero_to_100,
 DROP COLUMN sold_above_100_to_500, DROP COLUMN sold_above_500;
DELETE FROM schema_migrations WHERE name = '0006_boards'
"""


def test_an_upgrade_computes_what_an_import_stores(connection: Connection, database_url: str) -> None:
    random_trades.fill(Importer(database_url), 12, 2_000)
    now = datetime.now(UTC)
    imported = contents(connection, now)
    for statement in f"{BEFORE_SUMS};{BEFORE_BOARDS}".split(";"):
        connection.execute(statement)
    assert migrations.migrate(connection) == ["0006_boards", "0022_sums"]
    assert contents(connection, now) == imported


# What the tables had before the migration: the largest quantity of a position's whole life.
BEFORE_ENTRIES: LiteralString = """
UPDATE trades
   SET peak_after = earlier.peak
  FROM (SELECT wallet_id, token_id, tx_signature, is_sell, event_index,
               max(quantity_after) OVER (PARTITION BY wallet_id, token_id
                                             ORDER BY created_at, is_sell, tx_signature, event_index) AS peak
          FROM trades) AS earlier
 WHERE (trades.wallet_id, trades.token_id, trades.tx_signature, trades.is_sell, trades.event_index)
       = (earlier.wallet_id, earlier.token_id, earlier.tx_signature, earlier.is_sell, earlier.event_index);
UPDATE positions
   SET peak = (SELECT max(peak_after) FROM trades
                WHERE trades.wallet_id = positions.wallet_id AND trades.token_id = positions.token_id);
UPDATE lifetimes SET still_holding = still_holding - 1, below_zero = 0, above_500 = above_500 + 1;
DELETE FROM schema_migrations WHERE name = '0016_entries'
"""


def test_an_upgrade_computes_the_peaks_of_positions_that_were_entered_again(
    connection: Connection, database_url: str
) -> None:
    random_trades.fill(Importer(database_url), 12, 2_000)
    now = datetime.now(UTC)
    imported = contents(connection, now)
    for statement in f"{BEFORE_SUMS};{BEFORE_ENTRIES}".split(";"):
        connection.execute(statement)
    assert contents(connection, now)["trades"] != imported["trades"]
    assert migrations.migrate(connection) == ["0016_entries", "0022_sums"]
    assert contents(connection, now) == imported


# What syncs had reported in five tables before the migration.
BEFORE_REPORT: LiteralString = """
INSERT INTO sync_reasons VALUES ('eth', 'no_trade', 12345678901, 3), ('solana', 'unclear', 7, 2);
INSERT INTO sync_methods VALUES ('eth', 'eth_getLogs', 40, 6.25, now());
INSERT INTO sync_follows VALUES
       ('eth', 'blocks', 10, 9, true, 1, 2, now()),
       ('solana', 'logsSubscribe', 300, 200, true, 5, 44, now() - interval '10 minutes');
INSERT INTO sync_delays VALUES ('eth', 1, 3, 2.5), ('eth', 5, 6, 17.25), ('eth', 'Infinity', 1, 9000);
INSERT INTO sync_heartbeats (job, blockchain, succeeded_at, first_tried_at, wallets, failed)
VALUES ('prices', 'eth', now() - interval '1 hour', now() - interval '2 hours', 0, 0),
       ('trades', 'eth', now() - interval '1 hour', now() - interval '2 hours', 9, 1),
       ('trades', 'bnb', NULL, now() - interval '2 hours', 0, 0);
UPDATE sync_heartbeats
   SET delay_seconds = 4.5, arrived_at = now(), round_wallets = 20, round_read = 10, round_trades = 0
 WHERE wallets > 0
"""


def test_an_upgrade_keeps_what_syncs_have_reported(
    empty_database_url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(empty_database_url) as connection:
        with monkeypatch.context() as earlier:
            earlier.setattr(migrations, "available", lambda: NAMES[: NAMES.index("0021_report")])
            migrations.migrate(connection)
        for statement in BEFORE_REPORT.split(";"):
            connection.execute(statement)
    assert run("migrate").exit_code == 0
    told = json.loads(run("sync", "status", "--json").stdout)
    for one in told["syncs"]:
        one["age_seconds"], one["quiet_seconds"] = one["age_seconds"] // 3600, one["quiet_seconds"] // 3600
    assert [list(one.values()) for one in told["syncs"]] == [
        ["prices", "eth", True, 1, 0, 0, None, 1, None, None, None],
        ["trades", "bnb", False, 2, 0, 0, None, 2, None, None, None],
        ["trades", "eth", True, 1, 9, 1, 4.5, 0, 20, 10, 0],
    ]
    assert [list(one.values()) for one in told["left_out"]] == [
        ["eth", "no_trade", 12345678901, 3, 0],
        ["solana", "unclear", 7, 2, 0],
    ]
    assert [list(one.values()) for one in told["methods"]] == [["eth", "eth_getLogs", 40, 6.25]]
    assert [list(one.values()) for one in told["follows"]] == [
        ["eth", "blocks", 10, 9, True, 1, 2],
        ["solana", "logsSubscribe", 300, 200, False, 5, 44],
    ]
    assert [list(one.values()) for one in told["delays"]] == [["eth", 10, 5.0, 5.0]]


def test_an_upgrade_that_was_killed_changes_nothing_and_can_be_run_again(
    empty_database_url: str, database_url: str, run: Run
) -> None:
    with connect(empty_database_url) as connection, connect(empty_database_url) as other:
        with other.transaction(force_rollback=True):
            # The migration creates this one too, after three others, and waits.
            other.execute("CREATE TABLE native_prices (usd numeric)")
            killed: Process[bytes] = Process(
                [sys.executable, "-m", "wallet_api", "migrate"],
                env=os.environ | {"DATABASE_URL": empty_database_url},
                stdout=subprocess.DEVNULL,
            )
            assert eventually(lambda: somebody_waits(connection), 30)
            killed.send_signal(signal.SIGKILL)
            killed.wait(30)
        assert names_of(connection) == []
    assert run("migrate").exit_code == 0
    assert schema_of(empty_database_url) == schema_of(database_url)


def test_a_second_migrate_has_nothing_to_do(empty_database_url: str, run: Run) -> None:
    first, second = run("migrate"), run("migrate")
    assert f"Applied {', '.join(NAMES)}." in first.stdout
    assert second.stdout == "The tables are up to date.\n"


def test_a_changed_migration_is_refused(database_url: str, connection: Connection) -> None:
    connection.execute("UPDATE schema_migrations SET checksum = 'another' WHERE name = '0002_walk'")
    assert migrations.inspect(connection).changed == ("0002_walk",)
    with pytest.raises(migrations.SchemaError, match=r"0002_walk.*must not be edited"):
        migrations.migrate(connection)


def test_comments_and_white_space_do_not_change_a_checksum() -> None:
    sql = (Path(migrations.__file__).parent / "0002_walk.sql").read_text()
    assert "\n    IF NOT is_sell THEN\n" in sql
    assert migrations.checksum_of(sql) == migrations.checksum("0002_walk")
    changed = sql.replace("-- The arithmetic", "-- Arithmetic").replace("\n    IF NOT", "\n\n  IF  NOT")
    assert migrations.checksum_of(changed) == migrations.checksum("0002_walk")
    assert migrations.checksum_of(sql.replace("IF NOT is_sell", "IF is_sell")) != migrations.checksum(
        "0002_walk"
    )


def test_tables_outside_the_schema_public_are_refused(empty_database_url: str) -> None:
    with connect(empty_database_url, options="-c search_path=elsewhere,public") as connection:
        connection.execute("CREATE SCHEMA elsewhere")
        with pytest.raises(migrations.SchemaError, match="search_path"):
            migrations.migrate(connection)


def test_a_command_on_a_database_without_tables_says_what_to_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wallets.csv").write_text("blockchain,type,wallet_address\n")
    for command in (("rebuild",), ("import", "wallets", "wallets.csv"), ("keys", "list"), ("demo",)):
        refused = run(*command)
        assert refused.exit_code == 1
        assert "run 'wallet-api migrate' first" in refused.stderr


@unfit
def test_tables_that_do_not_fit_are_refused_by_every_command(
    connection: Connection, settings: Settings, change: LiteralString, message: str
) -> None:
    connection.execute(change)
    for command in (
        ("migrate",),
        ("keys", "list"),
        ("rebuild",),
        ("up", "--port", str(free_port()), "--no-demo"),
    ):
        refused = run_command(*command, settings=settings)
        assert refused.exit_code == 1
        assert message in str(refused.exception)


@unfit
def test_gunicorn_refuses_to_start_on_tables_that_do_not_fit(
    connection: Connection, settings: Settings, gunicorn: StartGunicorn, change: LiteralString, message: str
) -> None:
    connection.execute(change)
    with pytest.raises(pytest.fail.Exception, match=f"Error: {message}"):
        gunicorn(settings)


def test_a_running_service_names_the_newer_tables_and_stays_ready(
    connection: Connection, settings: Settings, gunicorn: StartGunicorn
) -> None:
    server = gunicorn(settings, workers=1)
    connection.execute(NEWER)
    assert _ready(server.url) == (200, f"newer: {LATER}")
    # A worker that is replaced starts on the tables that there are.
    worker = psutil.Process(server.process.pid).children()[0]
    worker.kill()
    worker.wait(30)
    assert _ready(server.url) == (200, f"newer: {LATER}")


def _ready(url: str) -> tuple[int, str]:
    answer = requests.get(f"{url}/readyz", timeout=60)
    return answer.status_code, answer.json()["data"]["tables"]


def test_migrations_have_no_formula_of_an_answer() -> None:
    for file in sorted(Path(migrations.__file__).parent.glob("[0-9]*.sql")):
        sql = re.sub(r"--.*", "", file.read_text()).lower()
        for word in ("json", "win_rate", "_percentage", "pnl", "still_holding_count"):
            assert word not in sql.replace("tokens jsonb", "").replace("'pnl_calendar'", ""), (
                file.name,
                word,
            )


def test_a_chain_that_sql_does_not_know_raises(connection: Connection) -> None:
    for chain in CHAINS.values():
        row = connection.execute("SELECT native_currency(%s) AS currency", [chain.name]).fetchone()
        assert row == {"currency": chain.currency}
    with pytest.raises(psycopg.errors.RaiseException, match="unknown chain: tron"):
        connection.execute("SELECT native_currency('tron')")
