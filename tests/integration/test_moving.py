"""Backups between servers: embedded and own, older and newer ones, and those of commit d967877."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests import legacy
from tests.backups import (
    Made,
    Service,
    at,
    compare_answers,
    contents,
    count_trades,
    debian_server,
    done,
    fill,
    listed_keys,
    major,
    program_of,
    rebuilt,
    refused,
    rows,
    session,
)
from tests.ledger.in_process import Importer
from tests.processes import run_command as run
from wallet_api import embedded, migrations
from wallet_api.backup.programs import oldest_for
from wallet_api.database import connect
from wallet_api.keys import create_key
from wallet_api.settings import Settings


@pytest.fixture(scope="module")
def newest_server(servers: Settings) -> Iterator[str]:
    """The address of a server of the embedded PostgreSQL."""
    with ExitStack() as stack:
        if not os.environ.get("DATABASE_URL"):
            yield str(servers.database_url)
            return
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-api-tests-"))
        own = Settings(wallet_api_home=home)
        yield str(stack.enter_context(embedded.running(own, valkey=False)).database_url)


@pytest.fixture(scope="module")
def older_server(newest_server: str) -> Iterator[str]:
    """The address of a server of Debian's PostgreSQL, which has to be older than the embedded one."""
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder,
        debian_server(Path(folder)) as url,
    ):
        assert major(url) < major(newest_server)
        yield url


def test_data_moves_from_the_embedded_server_to_an_own_one_and_back(
    newest_server: str, make: Made, tmp_path: Path
) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        first, second = (Settings(wallet_api_home=f"{folder}/{name}") for name in ("first", "second"))
        with embedded.running(first, valkey=False) as started:
            made = run("demo", "--wallets", "10", "--trades", "500", settings=first)
            assert made.exit_code == 0, made.output
            before = contents(str(started.database_url))
            done("backup", tmp_path / "1.dump", settings=first)
        own = make(newest_server)
        moved = run("restore", tmp_path / "1.dump", settings=at(own))
        assert moved.exit_code == 0, moved.output
        assert "config/roles.sql" in moved.stderr
        assert contents(own) == before
        done("backup", tmp_path / "2.dump", settings=at(own))
        with embedded.running(second, valkey=False) as started:
            back = run("restore", tmp_path / "2.dump", settings=second)
            assert back.exit_code == 0, back.output
            assert "config/roles.sql" not in back.stderr
            assert contents(str(started.database_url)) == before


def test_a_newer_server_takes_the_backup_of_an_older_one(
    older_server: str, newest_server: str, make: Made, tmp_path: Path
) -> None:
    old, new, other = make(older_server), make(newest_server), make(older_server)
    fill(old)
    backup = tmp_path / "old.dump"
    assert done("backup", backup, settings=at(old))["server"] == major(older_server)
    done("restore", backup, settings=at(new))
    done("restore", backup, settings=at(other))
    assert contents(new) == contents(other) == contents(old)
    assert rebuilt(new) == rebuilt(other) == 0


def test_an_older_server_is_refused_before_anything_is_touched(
    older_server: str, newest_server: str, make: Made, tmp_path: Path
) -> None:
    new, old = make(newest_server), make(older_server)
    for url in (new, old):
        fill(url)
    before = contents(old)
    done("backup", tmp_path / "new.dump", settings=at(new))
    message = refused("restore", "--replace", tmp_path / "new.dump", settings=at(old))
    assert f"this server is PostgreSQL {major(older_server)}" in message
    assert f"Restore it to PostgreSQL {major(newest_server)} or newer" in message
    assert contents(old) == before


def test_the_commands_for_a_folder_of_another_version_move_its_data(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o755)
        with debian_server(home, data_name="postgres", user="wallet_api") as url:
            with session(url) as connection:
                connection.execute("CREATE DATABASE wallet_api")
            old = urlsplit(url)._replace(path="/wallet_api").geturl()
            fill(old)
            before = contents(old)
        message = _refused_with_commands(home)
        environment = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        for command in message:
            subprocess.run(command, shell=True, check=True, env=environment, cwd=tmp_path, timeout=60)
        with embedded.running(Settings(wallet_api_home=f"{home}-18"), valkey=False) as started:
            assert contents(str(started.database_url)) == before


def _refused_with_commands(home: Path) -> list[str]:
    """Return the commands in the error about a folder of another version."""
    with (
        pytest.raises(embedded.EmbeddedError, match="To move the data") as refusal,
        embedded.running(Settings(wallet_api_home=str(home)), valkey=False),
    ):
        pass
    return [line.strip() for line in str(refusal.value).splitlines() if line.startswith("  ")]


def test_a_backup_of_a_version_before_commit_d967877_is_refused(
    old_database: str, target: str, tmp_path: Path
) -> None:
    with session(old_database) as connection:
        connection.execute("DROP FUNCTION latest_price")
    done("backup", tmp_path / "older.dump", settings=at(old_database))
    message = refused("restore", tmp_path / "older.dump", settings=at(target))
    assert "is of a version before commit d967877, which cannot be upgraded" in message
    assert contents(target) == {}


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_of_commit_d967877_restored_without_us_is_rescued_by_migrate(
    old_database: str, target: str, form: str
) -> None:
    text = program_of(old_database, "pg_dump", f"--format={form}", old_database)
    options = ("--quiet", "--no-psqlrc") if form == "plain" else ("--no-owner",)
    program = oldest_for(major(target), tls=False).path("psql" if form == "plain" else "pg_restore")
    ended = subprocess.run(
        [program, *options, f"--dbname={target}"], input=text, capture_output=True, timeout=60, check=False
    )
    assert b"function shown(numeric, integer) does not exist" in ended.stderr
    migrated = run("migrate", settings=at(target))
    assert migrated.exit_code == 0, migrated.output
    assert rebuilt(target) == 0
    assert count_trades(target) == 60


@pytest.fixture
def old_database(make: Made, servers: Settings) -> str:
    """A database that commit d967877 created; all its trades are older than any rollup."""
    url = make(str(servers.database_url))
    with session(url) as connection:
        legacy.make_tables(connection)
        connection.execute("DELETE FROM credit_ledger")
        connection.execute((legacy.DATA / "old_rows.sql").read_bytes())
    return url


@pytest.mark.parametrize("maker", ["wallet-api", "pg_dump"])
def test_a_backup_of_commit_d967877_is_accepted(
    old_database: str, target: str, make: Made, servers: Settings, tmp_path: Path, maker: str
) -> None:
    backup = tmp_path / "old.dump"
    if maker == "wallet-api":
        done("backup", backup, settings=at(old_database))
    else:
        program_of(old_database, "pg_dump", "--format=custom", f"--file={backup}", f"--dbname={old_database}")
    keys = rows(
        old_database, "SELECT name, key_hash, rate, revoked_at, created_at FROM api_keys ORDER BY name"
    )
    summary = done("restore", backup, settings=at(target))
    assert summary["migrated"]
    assert (summary["wallets"], summary["trades"], summary["keys"]) == (8, 60, 3)
    assert rebuilt(target) == 0
    assert (
        rows(target, "SELECT name, key_hash, rate, revoked_at, created_at FROM api_keys ORDER BY name")
        == keys
    )
    assert [key["credits"] for key in listed_keys(target)] == [5_000 - 56, None, None]

    # The answers are those of an import of the same trades.
    again = make(str(servers.database_url))
    _import_again(target, again)
    with connect(target) as connection:
        headers = {"Authorization": f"Bearer {create_key(connection, 'test', rate='100000/second')}"}
    with connect(again) as connection:
        connection.execute("INSERT INTO api_keys (name, key_hash, rate) SELECT %s, %s, %s", _key(target))
    one, other = (
        Service(Settings(database_url=url, valkey_url=servers.valkey_url)) for url in (target, again)
    )
    with closing(one), closing(other):
        assert compare_answers(one.client, other.client, headers, skipping="holdings") > 50


def _key(url: str) -> list[Any]:
    [row] = rows(url, "SELECT name, key_hash, rate FROM api_keys WHERE name = 'test'")
    return list(row.values())


def _import_again(old: str, new: str) -> None:
    with connect(new) as connection:
        migrations.migrate(connection)
    wallets = """
    SELECT blockchain, type, address AS wallet_address, name, image_url, twitter, telegram, copytrade_link
      FROM wallets
    """
    trades = """
    SELECT wallets.blockchain, address AS wallet_address, tx_signature, mint, token_name,
           CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type, token_amount::text, value::text,
           value_usd::text, to_json(created_at) #>> '{}' AS created_at, event_index
      FROM trades JOIN wallets USING (wallet_id) JOIN tokens USING (token_id)
    """
    prices = "SELECT currency, usd::text, to_json(priced_at) #>> '{}' AS priced_at FROM native_prices"
    importer = Importer(new)
    importer.wallets(rows(old, wallets))
    importer.trades(rows(old, trades))
    importer.prices(rows(old, prices))
