"""Backups between servers: embedded and own, older and newer ones."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.backups import (
    Made,
    at,
    contents,
    debian_server,
    done,
    fill,
    major,
    refused,
    session,
)
from tests.processes import run_command
from wallet_api import embedded
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
    own = make(newest_server)
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        first, second = (Settings(wallet_api_home=f"{folder}/{name}") for name in ("first", "second"))
        with embedded.running(first, valkey=False) as started:
            fill(str(started.database_url))
            before = contents(str(started.database_url))
            done("backup", tmp_path / "1.dump", settings=first)
        moved = run_command("restore", tmp_path / "1.dump", settings=at(own))
        assert moved.exit_code == 0, moved.output
        assert "config/roles.sql" in moved.stderr
        assert contents(own) == before
        done("backup", tmp_path / "2.dump", settings=at(own))
        with embedded.running(second, valkey=False) as started:
            back = run_command("restore", tmp_path / "2.dump", settings=second)
            assert back.exit_code == 0, back.output
            assert "config/roles.sql" not in back.stderr
            assert contents(str(started.database_url)) == before


def test_a_newer_server_takes_the_backup_of_an_older_one_but_not_the_reverse(
    older_server: str, newest_server: str, make: Made, tmp_path: Path
) -> None:
    old, new, other = make(older_server), make(newest_server), make(older_server)
    fill(old)
    before = contents(old)
    done("backup", tmp_path / "old", settings=at(old))
    for url in (new, other):
        done("restore", tmp_path / "old", settings=at(url))
        assert contents(url) == before
        assert not any(done("rebuild", settings=at(url)).values())
    done("backup", tmp_path / "new", settings=at(new))
    message = refused("restore", "--replace", tmp_path / "new", settings=at(old))
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
