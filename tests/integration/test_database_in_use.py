"""Each command writes to standard error which database it uses, and whether it created it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ledger import random_trades
from tests.processes import environment_of, run_command
from wallet_api.settings import Settings

WALLET = random_trades.wallets(1)[0]
SMALL_DEMO = ("demo", "--wallets", "8", "--trades", "100", "--days", "2")


@pytest.fixture
def home(empty_home: Path) -> Path:
    return empty_home


@pytest.fixture
def wallets_file(tmp_path: Path) -> str:
    path = tmp_path / "wallets.ndjson"
    path.write_text(json.dumps(WALLET))
    return str(path)


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


def test_an_embedded_server_is_named_by_its_folder_and_called_new_once(home: Path) -> None:
    own = Settings(wallet_api_home=str(home))
    made = run_command("keys", "create", "one", "--json", settings=own)
    assert set(json.loads(made.stdout)) == {"name", "key"}
    # Between the two, root is told which folders its server's user may pass through now.
    assert made.stderr.startswith(f"Database: embedded PostgreSQL in {home}\n")
    assert made.stderr.endswith(
        f"\nCreated an empty database in {home}. Check WALLET_API_HOME if you expected data.\n"
    )
    listed = run_command("keys", "list", "--json", settings=own)
    assert [key["name"] for key in json.loads(listed.stdout)] == ["one"]
    assert listed.stderr == f"Database: embedded PostgreSQL in {home}\n"


def test_from_another_folder_the_default_is_seen_to_be_another_database(home: Path) -> None:
    home.mkdir()
    # Root's servers run as another user, who has to pass through.
    os.chmod(home, 0o711)
    os.chmod(home.parent, 0o711)
    done = subprocess.run(
        [sys.executable, "-m", "wallet_api", "keys", "list"],
        env=environment_of(Settings()),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert f"Created an empty database in {home / 'var'}. Check WALLET_API_HOME" in done.stderr


def test_one_s_own_wallets_beside_the_demo_s_are_warned_of(settings: Settings, wallets_file: str) -> None:
    own = Settings(database_url=settings.database_url, wallet_api_home=settings.wallet_api_home)
    apart = run_command("import", "wallets", wallets_file, "--json", settings=own)
    assert "Warning" not in apart.stderr

    assert run_command("remove", "wallets", "--yes", wallets_file, settings=own).exit_code == 0
    assert run_command(*SMALL_DEMO, "--seed", "9", settings=own).exit_code == 0
    mixed = run_command("import", "wallets", wallets_file, "--json", settings=own)
    assert mixed.exit_code == 0
    assert json.loads(mixed.stdout)["landed"] == 1
    warnings = [line for line in mixed.stderr.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 1
    assert "WALLET_API_HOME" in warnings[0]
    assert "--no-demo" in warnings[0]
