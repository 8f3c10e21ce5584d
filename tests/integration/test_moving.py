"""Backups between servers: embedded and own, older and newer ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lib.backups import Made, at, contents, debian_server, done, fill, major, session
from tests.lib.folders import server_folder
from tests.lib.processes import run_command
from wallet_api.operate import embedded
from wallet_api.settings import Settings


@pytest.fixture(scope="module")
def newest(home: Path) -> Iterator[Settings]:
    """The settings of a running server of the embedded PostgreSQL."""
    with embedded.running(Settings(wallet_api_home=str(home))) as running:
        yield running


@pytest.fixture(scope="module")
def newest_server(newest: Settings) -> str:
    """Its address."""
    return str(newest.database_url)


@pytest.fixture(scope="module")
def older_server(newest_server: str) -> Iterator[str]:
    """The address of a server of Debian's PostgreSQL, which has to be older than the embedded one."""
    with (
        server_folder() as folder,
        debian_server(Path(folder)) as url,
    ):
        assert major(url) < major(newest_server)
        yield url


def test_data_moves_from_the_embedded_server_to_an_own_one_and_back(
    newest: Settings, newest_server: str, make: Made, tmp_path: Path
) -> None:
    own, first = make(newest_server), Settings(wallet_api_home=newest.wallet_api_home)
    fill(newest_server)
    before = contents(newest_server)
    done("backup", tmp_path / "1.dump", settings=first)
    moved = run_command("restore", tmp_path / "1.dump", settings=at(own))
    assert moved.exit_code == 0, moved.output
    assert "wallet-api config roles" in moved.stderr
    assert contents(own) == before
    done("backup", tmp_path / "2.dump", settings=at(own))
    with session(newest_server) as connection:
        connection.execute("UPDATE api_keys SET credits = 1")
    back = run_command("restore", "--replace", tmp_path / "2.dump", settings=first)
    assert back.exit_code == 0, back.output
    assert "wallet-api config roles" not in back.stderr
    assert contents(newest_server) == before


def test_a_server_takes_the_backup_of_an_older_one_and_of_a_newer_one(
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
    done("restore", "--replace", tmp_path / "new", settings=at(old))
    assert contents(old) == contents(new)
