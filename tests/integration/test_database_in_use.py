"""Each command writes to standard error which database it uses, and whether it created it."""

import json
import os
from pathlib import Path
from typing import LiteralString

import pytest
from psycopg.sql import SQL, Identifier

from tests.ledger import random_trades
from tests.ledger.rows import written
from tests.lib.processes import run_command
from wallet_api.database import Connection, NotWritable
from wallet_api.settings import Settings

SMALL_DEMO = ("demo", "--wallets", "8", "--trades", "100", "--days", "2")


@pytest.fixture
def wallets_file(tmp_path: Path) -> str:
    return str(written(tmp_path / "wallets.ndjson", random_trades.wallets(1)[0]))


def test_every_command_names_a_server_of_one_s_own_and_never_its_password(
    settings: Settings, wallets_file: str
) -> None:
    url = str(settings.database_url)
    assert url.count("@/") == 1
    name = url.split("@/")[1].split("?")[0]
    own = Settings(
        database_url=url.replace("@/", ":a-secret-word@/"), wallet_api_home=settings.wallet_api_home
    )
    for arguments in (
        ("migrate",),
        ("keys", "create", "one", "--json"),
        ("keys", "list", "--json"),
        ("keys", "top-up", "nobody", "1"),
        ("keys", "revoke", "one"),
        ("import", "wallets", wallets_file, "--json"),
        ("rebuild", "--json"),
        ("remove", "wallets", wallets_file, "--yes", "--json"),
        ("sync", "prices", "--since", "1m"),
        SMALL_DEMO,
    ):
        done = run_command(*arguments, settings=own)
        first = done.stderr.splitlines()[0]
        assert first.startswith(f"Database: {name} on /"), (arguments, done.stderr)
        assert first.endswith(":5432 as wallet_api"), (arguments, first)
        assert "a-secret-word" not in done.stdout + done.stderr
        assert "Database:" not in done.stdout
        assert "Created an empty" not in done.stderr
        if "--json" in arguments:
            json.loads(done.stdout)


def test_an_embedded_server_is_named_by_its_folder_and_called_new_once(empty_home: Path) -> None:
    own = Settings(wallet_api_home=str(empty_home))
    made = run_command("keys", "create", "one", "--json", settings=own)
    assert set(json.loads(made.stdout)) == {"name", "key"}
    # Between the two, root is shown which folders its server's user may pass through now.
    assert made.stderr.startswith(f"Database: embedded PostgreSQL in {empty_home}\n")
    assert made.stderr.endswith(
        f"\nCreated an empty database in {empty_home}. Check WALLET_API_HOME if you expected data.\n"
    )
    listed = run_command("keys", "list", "--json", settings=own)
    assert [key["name"] for key in json.loads(listed.stdout)] == ["one"]
    assert listed.stderr == f"Database: embedded PostgreSQL in {empty_home}\n"


def test_a_command_that_stores_nothing_new_refuses_a_folder_without_a_database(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_home.mkdir()
    # Root's servers run as another user, who has to pass through.
    os.chmod(empty_home, 0o711)
    os.chmod(empty_home.parent, 0o711)
    monkeypatch.chdir(empty_home)
    for command in (
        ("keys", "list"),
        ("keys", "top-up", "one", "1"),
        ("usage",),
        ("export", "wallets", "wallets.csv"),
        ("backup", "all.dump"),
        ("rebuild",),
        ("sync", "status"),
        ("sync", "prices"),
    ):
        done = run_command(*command, settings=Settings())
        assert done.exit_code == 1, command
        hint = f"Error: There is no database in {empty_home / 'var'}. Set WALLET_API_HOME"
        assert done.stderr.startswith(hint)
        assert not list(empty_home.iterdir()), command


_FULL = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE disk_full USING MESSAGE = 'could not extend file "base/1/2": No space left on device';
END $$;
CREATE TRIGGER is_full BEFORE INSERT ON api_keys EXECUTE FUNCTION fail()
"""
_READ_ONLY = "ALTER DATABASE {} SET default_transaction_read_only = on"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (_FULL, "The disk of the database is full: free some space, or remove old trades and files."),
        (_READ_ONLY, "The database is read-only: it is a standby, or default_transaction_read_only is set."),
    ],
)
def test_a_database_that_cannot_be_written_to_is_reported_as_such(
    database_url: str, connection: Connection, statement: LiteralString, message: str
) -> None:
    connection.execute(SQL(statement).format(Identifier(connection.info.dbname)))
    error = run_command("keys", "create", "one", settings=Settings(database_url=database_url)).exception
    assert isinstance(error, NotWritable)
    assert (error.advice or error.message).startswith(message)


def test_one_s_own_wallets_beside_the_demo_s_are_warned_of(settings: Settings, wallets_file: str) -> None:
    apart = run_command("import", "wallets", wallets_file, settings=settings)
    assert "Warning" not in apart.stderr
    assert run_command("remove", "wallets", "--yes", wallets_file, settings=settings).exit_code == 0
    assert run_command(*SMALL_DEMO, "--seed", "9", settings=settings).exit_code == 0
    mixed = run_command("import", "wallets", wallets_file, settings=settings)
    assert mixed.exit_code == 0
    [warning] = [line for line in mixed.stderr.splitlines() if line.startswith("Warning: ")]
    assert "WALLET_API_HOME" in warning
    assert "--no-demo" in warning


def test_a_sync_begins_at_a_time_in_the_past(settings: Settings) -> None:
    for since in ("0d", "soon", "2009-01-02", "2999-01-01", "999999d", "0001-01-01T00:00+23:00"):
        refused = run_command("sync", "prices", "--since", since, settings=settings)
        assert refused.exit_code == 2
        assert "must be" in refused.stderr
