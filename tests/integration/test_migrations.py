"""The tables: made fresh, upgraded in place from d967877, and refused where this version does not fit."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psutil
import psycopg
import pytest
import requests
from click.testing import Result
from psycopg.sql import SQL, Identifier

from tests import legacy
from tests.ledger.in_process import history, leaderboard, volume
from tests.processes import StartGunicorn, run_command
from wallet_api import demo, migrations
from wallet_api.chains import CHAINS
from wallet_api.database import Connection, connect
from wallet_api.demo.world import World
from wallet_api.embedded import postgres
from wallet_api.keys import list_keys
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.settings import Settings

NAMES = [
    "0005_tables",
    "0006_walk",
    "0007_days_and_holdings",
    "0008_token_prices",
    "0009_totals_of_positions",
    "0010_exchanged_value",
    "0011_rows_left_out",
    "0012_left_out",
]
LATER = "9999_of_a_later_version"

Run = Callable[..., Result]


@pytest.fixture
def old(empty_database_url: str) -> Iterator[Connection]:
    """A connection to a database as d967877 left it."""
    with connect(empty_database_url) as connection:
        legacy.make_tables(connection)
        legacy.fill(connection)
        yield connection


@pytest.fixture
def run(empty_database_url: str, tmp_path: Path) -> Run:
    """Runs `wallet-api` with these arguments on the database that had no tables."""
    settings = Settings(database_url=empty_database_url, wallet_api_home=str(tmp_path / "home"))
    return partial(run_command, settings=settings)


@contextmanager
def another_session(url: str, name: str = "") -> Iterator[Connection]:
    """Another session of the database, with this application_name."""
    with connect(url, application_name=name) as connection:
        yield connection


def schema_of(url: str) -> str:
    """What pg_dump says of the schema."""
    program = postgres.programs() / "pg_dump"
    dumped = subprocess.run(
        [program, "--schema-only", "--no-owner", "--no-privileges", url],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    # A random word, which is another one in each dump.
    return "\n".join(line for line in dumped.splitlines() if "restrict " not in line)


def names_of(connection: Connection) -> list[str]:
    """The migrations that are noted as applied."""
    return [row["name"] for row in connection.execute("SELECT name FROM schema_migrations ORDER BY name")]


def answer_to(connection: Connection, question: list[Any]) -> Any:
    """What this version answers to a question that d967877 was asked, without what it did not have then."""
    kind, *arguments = question
    if kind == "history":
        record = history(connection, legacy.NOW, *arguments)
        for trade in record["trades"]:
            added = {name: trade.pop(name, None) for name in ("token_amount", "value_usd", "event_index")}
            assert added["token_amount"] > 0
        for figures in (record["lifetime_stats"], *record["token_overview"]):
            for name in ("unrealized_pnl", "unrealized_pnl_usd", "priced_tokens_count"):
                figures.pop(name, None)
        return record
    return {"volume": volume, "leaderboard": leaderboard}[kind](connection, legacy.NOW, *arguments)


def wait_for_a_lock(connection: Connection, statement: str) -> None:
    """Wait until the session that runs this statement waits for a lock."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        row = connection.execute(
            "SELECT count(*) AS n FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE NOT granted AND datname = current_database() AND query LIKE %s",
            [f"%{statement}%"],
        ).fetchone()
        if row is not None and row["n"]:
            return
        time.sleep(0.02)
    pytest.fail("nothing waits for the lock")


def test_an_upgraded_schema_is_the_fresh_one(
    old: Connection, empty_database_url: str, database_url: str, run: Run
) -> None:
    upgraded = run("migrate")
    assert upgraded.exit_code == 0, upgraded.output
    assert names_of(old) == NAMES
    fresh = schema_of(database_url)
    assert "CREATE TABLE public.lifetimes" in fresh
    assert schema_of(empty_database_url) == fresh


def test_an_upgraded_ledger_gives_the_same_answers(old: Connection, run: Run) -> None:
    assert run("migrate").exit_code == 0
    answers = legacy.saved_answers()
    assert {question[0] for question, _ in answers} == {"history", "volume", "leaderboard"}
    newly_known = []
    for question, expected in answers:
        found = answer_to(old, question)
        if question[0] == "leaderboard":
            # A dollar profit is no longer absent for a sell of what was never bought.
            for before, after in zip(expected, found, strict=True):
                if "realized_pnl_usd" not in before["period_stats"]:
                    profit = after["period_stats"].pop("realized_pnl_usd", None)
                    newly_known += [profit] if profit is not None else []
        assert found == expected, question
    assert newly_known == [50]


def test_an_upgraded_ledger_is_what_a_rebuild_makes_of_its_trades(old: Connection, run: Run) -> None:
    assert run("migrate").exit_code == 0
    uncovered = old.execute(
        "SELECT count(*) AS all, count(realized_usd) AS valued FROM trades WHERE is_sell AND realized IS NULL"
    ).fetchone()
    assert uncovered is not None
    assert uncovered["all"] > 10
    assert uncovered["valued"] == 0
    # Only days inside the horizon are compared by a rebuild, and these grow older: all are compared here.
    wrong = old.execute(
        """
        SELECT count(*) AS n
          FROM position_rollup AS day
         WHERE unpriced_sell_txn <> (
               SELECT count(realized_cost) - count(realized_usd)
                 FROM trades
                WHERE trades.wallet_id = day.wallet_id
                  AND trades.token_id = day.token_id
                  AND bucket_end(trades.created_at, 86400) = day.ends_at)
        """
    ).fetchone()
    assert wrong == {"n": 0}
    changed = rebuild_ledger(old)
    assert {table: changed[table] for table in ("trades", "positions", "lifetimes", "position_rollup")} == {
        "trades": 0,
        "positions": 0,
        "lifetimes": 0,
        "position_rollup": 0,
    }


def test_an_upgrade_keeps_keys_and_the_state_of_the_sync_and_returns_leased_credits(
    old: Connection, run: Run
) -> None:
    leased = old.execute(
        "SELECT name, sum(amount - spent)::int AS leased FROM credit_leases JOIN api_keys"
        " USING (key_id) GROUP BY name"
    ).fetchall()
    assert leased == [{"name": "alice", "leased": 15}]
    before = list_keys(old)
    synced = old.execute("SELECT * FROM sync_wallets").fetchall()
    assert run("migrate").exit_code == 0
    after = list_keys(old)
    assert {row["name"]: row["credits"] for row in before} == {"alice": 480, "bob": None, "carol": 7}
    assert {row["name"]: row["credits"] for row in after} == {"alice": 495, "bob": None, "carol": 7}
    others = [[row | {"credits": None} for row in rows] for rows in (before, after)]
    assert others[0] == others[1]
    assert old.execute("SELECT * FROM sync_wallets").fetchall() == synced
    assert len(synced) == 1


def test_an_upgraded_snapshot_is_answered_as_before(
    old: Connection, empty_database_url: str, valkey_url: str, run: Run, make_app: Callable[[Settings], Any]
) -> None:
    rows = old.execute(
        "SELECT blockchain, address, tokens FROM holdings_snapshots JOIN wallets USING (wallet_id)"
        " WHERE tokens IS NOT NULL ORDER BY wallet_id"
    ).fetchall()
    assert len(rows) == 2
    assert run("migrate").exit_code == 0
    key = orjson.loads(run("keys", "create", "caller", "--json").stdout)["key"]
    client = make_app(Settings(database_url=empty_database_url, valkey_url=valkey_url)).test_client()
    for row in rows:
        answer = client.get(
            "/v1/wallets/holdings",
            query_string={"blockchain": row["blockchain"], "address": row["address"]},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == 200
        assert answer.json["data"]["active_holdings"]["tokens"] == orjson.loads(row["tokens"])
        assert answer.json["data"]["active_holdings"]["last_updated"] == "2026-11-23T05:00:00Z"


def test_an_upgrade_that_was_killed_changes_nothing_and_can_be_run_again(
    old: Connection, empty_database_url: str, database_url: str, run: Run
) -> None:
    with another_session(empty_database_url) as reader:
        with reader.transaction():
            reader.execute("LOCK TABLE holdings_snapshots IN ACCESS SHARE MODE")
            killed = subprocess.Popen(
                [sys.executable, "-m", "wallet_api", "migrate"],
                env=os.environ | {"DATABASE_URL": empty_database_url},
                stdout=subprocess.DEVNULL,
            )
            wait_for_a_lock(old, "CREATE TEMP TABLE summed")
            killed.send_signal(signal.SIGKILL)
            killed.wait(30)
        # The server notices when it has the lock, and takes everything back.
        with reader.transaction():
            reader.execute("LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE")
    assert names_of(old) == list(legacy.FILES)
    assert run("migrate").exit_code == 0
    assert schema_of(empty_database_url) == schema_of(database_url)


def test_tables_without_lifetimes_as_a_restored_dump_has_them_are_upgraded(
    old: Connection, empty_database_url: str, database_url: str, run: Run
) -> None:
    old.execute("DROP TABLE lifetimes")
    assert run("migrate").exit_code == 0
    assert schema_of(empty_database_url) == schema_of(database_url)
    question, expected = legacy.saved_answers()[0]
    assert answer_to(old, question) == expected


def test_an_upgrade_is_refused_while_a_service_is_connected(
    old: Connection, empty_database_url: str, run: Run
) -> None:
    with another_session(empty_database_url, "wallet-api"):
        refused = run("migrate")
    assert refused.exit_code == 1
    assert "Stop the service" in str(refused.exception)
    assert names_of(old) == list(legacy.FILES)
    assert run("migrate").exit_code == 0


def test_tables_of_an_older_development_version_are_refused(old: Connection, run: Run) -> None:
    old.execute("ALTER TABLE positions DROP COLUMN listed")
    refused = run("migrate")
    assert refused.exit_code == 1
    assert "commit d967877" in str(refused.exception)
    assert names_of(old) == list(legacy.FILES)


def test_a_second_migrate_has_nothing_to_do(empty_database_url: str, run: Run) -> None:
    first, second = run("migrate"), run("migrate")
    assert f"Applied {', '.join(NAMES)}." in first.stdout
    assert second.stdout == "The tables are up to date.\n"


def test_a_changed_migration_is_refused(database_url: str, connection: Connection) -> None:
    connection.execute("UPDATE schema_migrations SET checksum = 'another' WHERE name = '0006_walk'")
    assert migrations.inspect(connection).changed == ("0006_walk",)
    with pytest.raises(migrations.SchemaError, match=r"0006_walk.*must not be edited"):
        migrations.migrate(connection)


def test_comments_and_white_space_do_not_change_a_checksum() -> None:
    sql = (Path(migrations.__file__).parent / "0006_walk.sql").read_text()
    assert "\n    IF NOT is_sell THEN\n" in sql
    assert migrations.checksum_of(sql) == migrations.checksum("0006_walk")
    changed = sql.replace("-- The arithmetic", "-- Arithmetic").replace("\n    IF NOT", "\n\n  IF  NOT")
    assert migrations.checksum_of(changed) == migrations.checksum("0006_walk")
    assert migrations.checksum_of(sql.replace("IF NOT is_sell", "IF is_sell")) != migrations.checksum(
        "0006_walk"
    )


def test_tables_outside_the_schema_public_are_refused(empty_database_url: str) -> None:
    with connect(empty_database_url, options="-c search_path=elsewhere,public") as connection:
        connection.execute("CREATE SCHEMA elsewhere")
        with pytest.raises(migrations.SchemaError, match="search_path"):
            migrations.migrate(connection)


@pytest.fixture
def newer(connection: Connection) -> Connection:
    """A connection to a database that a later version has migrated."""
    connection.execute("INSERT INTO schema_migrations (name, checksum) VALUES (%s, '')", [LATER])
    return connection


@pytest.mark.parametrize("command", [("rebuild",), ("import", "wallets", "wallets.csv"), ("keys", "list")])
def test_a_command_on_a_database_without_tables_says_what_to_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wallets.csv").write_text("blockchain,type,wallet_address\n")
    refused = run(*command)
    assert refused.exit_code == 1
    assert "run 'wallet-api migrate' first" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [("migrate",), ("keys", "list"), ("rebuild",), ("up", "--port", "1", "--no-demo")],
)
def test_a_newer_database_is_refused_by_every_command(
    newer: Connection, settings: Settings, command: tuple[str, ...]
) -> None:
    refused = run_command(*command, settings=settings)
    assert refused.exit_code == 1
    assert LATER in str(refused.exception)


def test_gunicorn_refuses_to_start_on_a_newer_database(
    newer: Connection, settings: Settings, gunicorn: StartGunicorn
) -> None:
    with pytest.raises(pytest.fail.Exception, match=f"Error: The tables are newer.*{LATER}"):
        gunicorn(settings)


def test_a_running_service_names_the_newer_tables_and_stays_ready(
    connection: Connection, settings: Settings, gunicorn: StartGunicorn
) -> None:
    server = gunicorn(settings, workers=1)
    connection.execute("INSERT INTO schema_migrations (name, checksum) VALUES (%s, '')", [LATER])
    assert _ready(server.url) == (200, f"newer: {LATER}")
    # A worker that is replaced starts on the tables that there are.
    worker = psutil.Process(server.process.pid).children()[0]
    worker.kill()
    worker.wait(30)
    assert _ready(server.url) == (200, f"newer: {LATER}")


def _ready(url: str) -> tuple[int, str]:
    answer = requests.get(f"{url}/readyz", timeout=60)
    return answer.status_code, answer.json()["data"]["tables"]


def test_figures_are_stored_as_typed_columns(connection: Connection, database_url: str) -> None:
    """No answer is stored, and no column is computed by a function of ours."""
    demo.load(database_url, World(datetime.now(UTC), wallets=20, trades=500, days=3))
    columns = connection.execute(
        "SELECT table_name, column_name, data_type, is_generated FROM information_schema.columns"
        " WHERE table_schema = 'public'"
    ).fetchall()
    assert [column for column in columns if column["is_generated"] == "ALWAYS"] == []
    json_columns = [
        (c["table_name"], c["column_name"]) for c in columns if c["data_type"] in ("json", "jsonb")
    ]
    assert json_columns == [("holdings_snapshots", "tokens")]
    for column in columns:
        if column["data_type"] != "text":
            continue
        query = SQL("SELECT count(*) AS n FROM {} WHERE {} ~ '^\\s*[{{\\[]'")
        names = Identifier(column["table_name"]), Identifier(column["column_name"])
        assert connection.execute(query.format(*names)).fetchone() == {"n": 0}, column


def test_migrations_hold_the_arithmetic_of_the_walk_and_no_formula_of_an_answer(
    connection: Connection,
) -> None:
    functions = connection.execute(
        "SELECT proname, prosrc, pg_get_functiondef(oid) AS definition FROM pg_proc"
        " WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'"
    ).fetchall()
    assert {function["proname"] for function in functions} == {
        *("quotient", "quotient_to", "small_quotient", "round_half_up", "percentage", "profit_bucket"),
        *("still_held", "native_currency", "refuse_chain", "bucket_end", "nearest_price", "walk_step"),
    }
    for file in sorted(Path(migrations.__file__).parent.glob("[0-9]*.sql")):
        sql = re.sub(r"--.*", "", file.read_text()).lower()
        for word in ("json", "to_char", "win_rate", "_percentage", "pnl", "still_holding_count"):
            assert word not in sql.replace("tokens jsonb", ""), (file.name, word)


def test_a_chain_that_sql_does_not_know_raises(connection: Connection) -> None:
    for chain in CHAINS.values():
        row = connection.execute("SELECT native_currency(%s) AS currency", [chain.name]).fetchone()
        assert row == {"currency": chain.currency}
    with pytest.raises(psycopg.errors.RaiseException, match="unknown chain: tron"):
        connection.execute("SELECT native_currency('tron')")
