"""The tables: created, upgraded in place, and refused where this version does not fit."""

import gzip
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import product
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import pytest
import requests
from click.testing import Result
from flask.testing import FlaskClient
from psycopg.sql import SQL, Identifier

from tests.ledger import example, random_trades
from tests.ledger.contents import contents
from tests.ledger.in_process import Importer, Row, clear
from tests.ledger.mints import evm_mint_of
from tests.ledger.rows import BEN, EVM, WALLETS, trade_row
from tests.lib.backups import at
from tests.lib.network import free_port
from tests.lib.processes import StartGunicorn, run_command, run_program, wallet_api
from tests.lib.versions import migrate_to
from tests.lib.waiting import eventually, somebody_waits
from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, connect, migrations
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.operate.embedded import postgres
from wallet_api.settings import Settings

ROOT = Path(__file__).parents[2]
# Where migrations are, and were in earlier versions.
_FOLDERS = ("wallet_api/database/migrations", "wallet_api/migrations")
VERSIONS = ROOT / "tests" / "data" / "versions"
# The tables whose rows are kept for a time.
EXPIRING = ("wallet_hours", "volume_rollup")
NAMES = migrations.available()
LATER = "9999_of_a_later_version"
NEWER: LiteralString = f"INSERT INTO schema_migrations (name, checksum) VALUES ('{LATER}', '')"
EARLIER: LiteralString = "UPDATE schema_migrations SET name = '0001_tables' WHERE name = '0001_schema'"

# The tables of wallets and their trades, in an order in which they can be filled.
LEDGER: tuple[LiteralString, ...] = (
    *("wallets", "wallet_groups", "tokens", "native_prices", "token_prices", "trades", "positions"),
    *("lifetimes", "position_days", "wallet_days", "volume_rollup"),
)
_COLUMNS = "SELECT column_name AS name FROM information_schema.columns WHERE table_name = %s"
_FILLED = """
SELECT min(active_days) AS active_days,
       max(fast_txn) AS fast_txn,
       max(open_cost) AS open_cost,
       max(open_cost_usd) AS open_cost_usd,
       max(open_without_usd) AS open_without_usd,
       max(losses) AS losses,
       max(earlier_drawdown) AS drawdown
  FROM lifetimes
"""
_VIEW = "SELECT wallet_address, mint, open_cost, open_cost_usd FROM ledger_positions ORDER BY 1, 2"

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


def test_an_upgraded_schema_is_the_fresh_one(empty_database_url: str, database_url: str, run: Run) -> None:
    with connect(empty_database_url) as connection:
        migrate_to(connection, NAMES[:1])
        assert names_of(connection) == NAMES[:1]
        upgraded = run("migrate")
        assert upgraded.exit_code == 0, upgraded.output
        assert f"Applied {', '.join(NAMES[1:])}." in upgraded.stdout
        assert names_of(connection) == NAMES
        assert run("migrate").stdout == "The tables are up to date.\n"
    fresh = schema_of(database_url)
    assert "CREATE TABLE public.lifetimes" in fresh
    assert schema_of(empty_database_url) == fresh


def test_the_currency_of_a_chain_that_this_version_adds_is_in_the_database(
    connection: Connection, settings: Settings
) -> None:
    before = "CREATE OR REPLACE FUNCTION native_currency(chain text) RETURNS text LANGUAGE sql IMMUTABLE"
    connection.execute(f"{before} PARALLEL SAFE RETURN CASE chain WHEN 'solana' THEN 'SOL' END".encode())
    assert migrations.inspect(connection).pending == ("native_currency",)
    assert run_command("migrate", settings=settings).exit_code == 0
    assert migrations.inspect(connection).pending == ()
    assert connection.fetch_value("SELECT native_currency('base')") == "ETH"


def test_an_upgraded_ledger_has_the_contents_of_one_that_is_built_anew(
    empty_database_url: str, database_url: str, connection: Connection, run: Run
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    importer = Importer(database_url)
    importer.wallets([*example.WALLETS, *random_trades.wallets(4)])
    importer.prices(random_trades.prices(now, days=9))
    ago = partial(_ago, now)
    fast = [
        trade_row(example.W, side, now - timedelta(days=days, seconds=seconds), transaction_type=side)
        for side, seconds in (("buy", 30), ("sell", 0))
        for days in (1, 120)
    ]
    importer.trades([*example.trades(ago), *random_trades.trades(900, 4, now, days=9), *fast])
    anew = contents(connection, now)
    with connect(empty_database_url) as earlier:
        migrate_to(earlier, NAMES[:2])
        for table in LEDGER:
            _copy(connection, earlier, table)
        upgraded = run("migrate")
        assert upgraded.exit_code == 0, upgraded.output
        assert contents(earlier, now) == anew
        assert earlier.execute(_VIEW).fetchall() == connection.execute(_VIEW).fetchall()
        rebuilt = rebuild_ledger(earlier)
    assert set(rebuilt.values()) == {0}
    # What is filled is not all 0.
    (filled,) = connection.execute(_FILLED)
    assert all(filled.values()), filled


def _ago(now: datetime, **ago: float) -> str:
    return (now - timedelta(**ago)).isoformat()


def _copy(source: Connection, target: Connection, table: LiteralString) -> None:
    """Copy the columns that the table of the target has."""
    names = [row["name"] for row in target.execute(_COLUMNS, [table])]
    columns = SQL(", ").join(map(Identifier, names))
    query = SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, Identifier(table))
    into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), columns)
    with (
        source.cursor() as reader,
        reader.copy(query) as rows,
        target.cursor() as writer,
        writer.copy(into) as copy,
    ):
        for row in rows:
            copy.write(row)


def test_a_dump_of_tables_of_an_earlier_version_is_upgraded_to_what_a_rebuild_computes(
    empty_database_url: str, run: Run
) -> None:
    dump = gzip.decompress((VERSIONS / "0010_figures.sql.gz").read_bytes()).decode()
    with connect(empty_database_url) as connection:
        connection.execute(dump.encode())
        connection.execute("RESET ALL")
        before = connection.execute("SELECT count(*) AS trades, sum(value) AS value FROM trades").fetchone()
        upgraded = run("migrate")
        assert upgraded.exit_code == 0, upgraded.output
        assert names_of(connection) == NAMES
        now = datetime.now(UTC)
        found = contents(connection, now)
        rebuild_ledger(connection)
        rebuilt = contents(connection, now)
        after = connection.execute("SELECT count(*) AS trades, sum(value) AS value FROM trades").fetchone()
    assert after == before
    assert before["trades"] > 400
    for table, rows in rebuilt.items():
        # Hours that no period reaches any more are not kept.
        expired = found[table].keys() - rows.keys() if table in EXPIRING else set()
        assert {key: row for key, row in found[table].items() if key not in expired} == rows, table


def test_migrations_stay_as_databases_have_them() -> None:
    pinned = _pins((VERSIONS / "migrations.txt").read_text())
    assert {name: migrations.checksum(name) for name in NAMES[: len(pinned)]} == pinned


def test_a_pin_of_a_migration_was_never_changed_with_it() -> None:
    """Every line that the file of pins ever had is there, and every migration of a tag has its pin."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    lines = (VERSIONS / "migrations.txt").read_text().splitlines()
    pins = "tests/data/versions/migrations.txt"
    changes = _git("log", "--format=", "--patch", "--unified=0", "--", pins)
    ever = {line[1:] for line in changes.splitlines() if re.fullmatch(r"[+-]\d{4}_\w+ \w{64}", line)}
    assert ever <= {*lines}
    for tag, folder in product(_git("tag", "--list").split(), _FOLDERS):
        for path in _git("ls-tree", "--name-only", tag, f"{folder}/").split():
            name = Path(path).stem
            # Tables of 1.0.0 are of other files.
            if re.fullmatch(r"\d{4}_\w+\.sql", Path(path).name) and name in NAMES:
                assert f"{name} {migrations.checksum_of(_git('show', f'{tag}:{path}'))}" in lines, (tag, name)


def _pins(text: str) -> dict[str, str]:
    """The checksums of migrations by name, in order."""
    return dict(line.split() for line in text.splitlines() if not line.startswith("#"))


def _git(*arguments: str) -> str:
    output: str = run_program(
        ["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True
    ).stdout
    return output


def test_what_a_database_of_version_1_0_0_has_is_moved_by_the_program(
    empty_database_url: str, database_url: str, connection: Connection, client: FlaskClient, tmp_path: Path
) -> None:
    with connect(empty_database_url) as earlier:
        earlier.execute((ROOT / "tests" / "data" / "versions" / "1_0_0.sql").read_text())
    path = os.pathsep.join([str(postgres.programs()), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "OLD": empty_database_url, "NEW": database_url, "DATABASE_URL": database_url}
    moved = run_program(
        ["/bin/sh", str(ROOT / "docs" / "examples" / "move_1_0_0.sh")],
        cwd=tmp_path,
        env=os.environ | own | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert moved.returncode == 0, moved.stdout + moved.stderr
    page = {"blockchain": "solana", "address": "So11111111111111111111111111111111111111112"}
    for secret in ("wk_of_version_1", "wk_before_it"):
        headers = {"Authorization": f"Bearer {secret}"}
        response = client.get("/v1/wallets/history", query_string=page | {"type": "kol"}, headers=headers)
        assert response.status_code == 200, response.text
        stats = response.json["data"]["lifetime_stats"]
        assert (stats["buy_txn"], stats["sell_txn"]) == (1, 1)
    assert response.headers["X-RateLimit-Limit"] == "7"
    assert response.json["data"]["profile"]["name"] == 'Sol, "the first"'
    trades = connection.execute(
        "SELECT value, value_usd, exchanged_value, event_index, usd_derived FROM trades"
    )
    assert sorted(tuple(row.values()) for row in trades) == [
        (Decimal("2.000000000000000001"), Decimal("300.00000000000000015"), Decimal("1.99"), 0, True),
        (Decimal(3), Decimal("444.4"), None, 1, False),
    ]
    refused = client.get("/v1/wallets/history", headers={"Authorization": "Bearer wk_revoked"})
    assert refused.json["error"]["code"] == "forbidden"


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
    assert "has the encoding SQL_ASCII" in refused.stderr
    assert "createdb --template=template0 --encoding=UTF8" in refused.stderr


def test_an_upgrade_that_was_killed_changes_nothing_and_can_be_run_again(
    empty_database_url: str, database_url: str, run: Run
) -> None:
    with connect(empty_database_url) as connection, connect(empty_database_url) as other:
        with other.transaction(force_rollback=True):
            # The migration creates this one too, after three others, and waits.
            other.execute("CREATE TABLE native_prices (usd numeric)")
            killed = wallet_api("migrate", settings=at(empty_database_url), stdout=subprocess.DEVNULL)
            assert eventually(lambda: somebody_waits(connection))
            killed.send_signal(signal.SIGKILL)
            killed.wait()
        assert names_of(connection) == []
    assert run("migrate").exit_code == 0
    assert schema_of(empty_database_url) == schema_of(database_url)


def test_a_changed_migration_is_refused(database_url: str, connection: Connection) -> None:
    connection.execute("UPDATE schema_migrations SET checksum = 'another' WHERE name = '0002_functions'")
    assert migrations.inspect(connection).changed == ("0002_functions",)
    with pytest.raises(migrations.SchemaError, match=r"0002_functions.*must not be edited"):
        migrations.migrate(connection)


def test_comments_and_white_space_do_not_change_a_checksum() -> None:
    sql = (Path(migrations.__file__).parent / "0002_functions.sql").read_text()
    assert "\n    IF NOT is_sell THEN\n" in sql
    assert migrations.checksum_of(sql) == migrations.checksum("0002_functions")
    changed = sql.replace("-- The arithmetic", "-- Arithmetic").replace("\n    IF NOT", "\n\n  IF  NOT")
    assert migrations.checksum_of(changed) == migrations.checksum("0002_functions")
    assert migrations.checksum_of(sql.replace("IF NOT is_sell", "IF is_sell")) != migrations.checksum(
        "0002_functions"
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
    imported = ("import", "wallets", "wallets.csv")
    for command in (("rebuild",), imported, ("keys", "list"), ("demo",), ("sync", "prices")):
        refused = run(*command)
        assert refused.exit_code == 1
        assert "run 'wallet-api migrate' first" in refused.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (NEWER, f"The tables are newer than this version of wallet-api: it does not have {LATER}"),
        (EARLIER, "The tables are of a version whose tables cannot be upgraded in place. Move"),
    ],
    ids=["newer", "earlier"],
)
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
        assert message in refused.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (NEWER, f"Error: The tables are newer .* {LATER}"),
        ("UPDATE wallet_fill SET done_until = 0", "has not computed all figures"),
    ],
)
def test_gunicorn_refuses_to_start_on_tables_that_do_not_fit(
    connection: Connection, gunicorn: StartGunicorn, change: LiteralString, message: str
) -> None:
    connection.execute(change)
    with pytest.raises(pytest.fail.Exception, match=message):
        gunicorn()


def test_a_running_service_names_the_newer_tables_and_stays_ready(
    connection: Connection, settings: Settings, gunicorn: StartGunicorn
) -> None:
    server = gunicorn(settings, workers=1)
    connection.execute(NEWER)
    assert _ready(server.url) == (200, f"newer: {LATER}")
    # A worker that is replaced starts on the tables that there are.
    worker = psutil.Process(server.process.pid).children()[0]
    worker.kill()
    worker.wait(60)
    assert _ready(server.url) == (200, f"newer: {LATER}")


def _ready(url: str) -> tuple[int, str]:
    answer = requests.get(f"{url}/readyz", timeout=60)
    return answer.status_code, answer.json()["data"]["tables"]


def test_migrations_have_no_formula_of_an_answer() -> None:
    for file in sorted(Path(migrations.__file__).parent.glob("[0-9]*.sql")):
        sql = re.sub(r"--.*", "", file.read_text()).lower()
        # What is kept as it came is no answer.
        for kept in ("tokens jsonb", "trades jsonb", "'pnl_calendar'"):
            sql = sql.replace(kept, "")
        for word in ("json", "win_rate", "_percentage", "pnl", "still_holding_count"):
            assert word not in sql, (
                file.name,
                word,
            )


def test_a_chain_that_sql_does_not_know_raises(connection: Connection) -> None:
    for chain in CHAINS.values():
        row = connection.execute("SELECT native_currency(%s) AS currency", [chain.name]).fetchone()
        assert row == {"currency": chain.currency}
    with pytest.raises(psycopg.errors.RaiseException, match="unknown chain: tron"):
        connection.execute("SELECT native_currency('tron')")


# The tables as before the migration, with signatures in the forms that files had.
_BEFORE_SIGNATURES: LiteralString = """
DELETE FROM schema_migrations WHERE name = '0012_signatures';
DROP TABLE respelled_positions;
DROP FUNCTION stored_signature;
"""


def test_trades_that_were_stored_in_several_spellings_of_a_hash_are_merged_into_the_last_one(
    database_url: str, connection: Connection
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    hashes = [f"{number:02x}Ab" * 16 for number in range(6)]
    of = {"blockchain": "eth", "mint": evm_mint_of("7")}

    def evm(signature: str, number: int, value: str = "1", **fields: str) -> Row:
        at = now - timedelta(hours=9 - number)
        return trade_row(EVM, signature, at, value=value, **of, **fields)

    files = [
        [evm("id-0", 0), evm("id-1", 1), evm("id-2", 2, transaction_type="sell"), evm("id-3", 3)],
        [evm("id-4", 0), evm("id-5", 0, value="2"), evm("id-6", 3), trade_row(BEN, " order ", now)],
        [evm("id-7", 0, value="3"), evm("id-8", 5)],
    ]
    spelled = {
        **{
            "id-0": f"0x{hashes[0].lower()}",
            "id-4": hashes[0],
            "id-5": f"\\x{hashes[0]}",
            "id-7": hashes[0].upper(),
        },
        **{"id-3": f"0x{hashes[3]}", "id-6": f"0x{hashes[3].lower()}", "id-8": f"  0X{hashes[5]}"},
        "order": " order ",
    }
    last = [files[0][1], files[0][2], files[1][2], files[1][3], files[2][0], files[2][1]]
    anew = [
        row | {"tx_signature": f"0x{spelled[row['tx_signature']].strip()[-64:].lower()}"}
        if row["tx_signature"] in spelled.keys() - {"order"}
        else row
        for row in last
    ]
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    importer.trades(anew)
    expected = contents(connection, now)
    clear(connection)
    importer.wallets(WALLETS)
    for rows in files:
        importer.trades(rows)
    for given, spelling in spelled.items():
        connection.execute("UPDATE trades SET tx_signature = %s WHERE tx_signature = %s", [spelling, given])
    before = connection.fetch_value("SELECT min(arrival) FROM trades")
    connection.execute(_BEFORE_SIGNATURES)
    connection.execute(
        "UPDATE wallets SET twitter = ' JavaScript:alert(1)', telegram = 'http://t' WHERE address = %s", [BEN]
    )
    migrated = run_command("migrate", settings=Settings(database_url=database_url))
    assert migrated.exit_code == 0, migrated.output
    assert "Wrote the hashes of 6 trades in one form; 4 of these" in migrated.stdout
    links = connection.execute("SELECT twitter, telegram FROM wallets WHERE address = %s", [BEN]).fetchone()
    assert links == {"twitter": "", "telegram": "http://t"}
    connection.execute("UPDATE wallets SET telegram = '' WHERE address = %s", [BEN])
    assert contents(connection, now) == expected
    assert set(rebuild_ledger(connection).values()) == {0}
    # To who follows, what is merged is a correction of what came first, and the others are removed.
    arrived = connection.execute(
        "SELECT first_arrival FROM trades WHERE tx_signature = %s", [f"0x{hashes[0].lower()}"]
    ).fetchone()
    assert arrived == {"first_arrival": before}
    gone = connection.execute("SELECT tx_signature FROM removals").fetchall()
    assert {row["tx_signature"] for row in gone} == set(spelled.values()) - {spelled["id-0"], spelled["id-6"]}
    again = run_command("migrate", settings=Settings(database_url=database_url))
    assert "The tables are up to date." in again.stdout
