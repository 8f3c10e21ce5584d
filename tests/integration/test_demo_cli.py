"""`wallet-api demo`, and the demo's provider as a process."""

import os
import pty
import socket
import subprocess
import sys
from typing import Any

import pytest
import requests

from wallet_api.database import Connection

DEMO = [sys.executable, "-m", "wallet_api", "demo"]
SMALL = ["--wallets", "10", "--trades", "30000", "--days", "2", "--seed", "3"]


def run_demo(database_url: str, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "DATABASE_URL": database_url}
    return subprocess.run(
        [*DEMO, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def test_the_command_loads_a_world_of_the_size_asked_for(database_url: str, connection: Connection) -> None:
    done = run_demo(database_url, *SMALL, stderr=subprocess.PIPE)
    assert done.returncode == 0
    [database] = done.stderr.splitlines()
    assert database.startswith("Database: ")
    [line] = done.stdout.splitlines()
    assert "10 wallets, 30,000 trades" in line
    counts = connection.execute(
        "SELECT count(*) AS trades, count(DISTINCT wallet_id) AS wallets,"
        " max(created_at) - min(created_at) <= interval '2 days' AS in_time FROM trades"
    ).fetchone()
    assert counts == {"trades": 30_000, "wallets": 10, "in_time": True}


def test_on_a_terminal_a_bar_shows_the_progress(database_url: str) -> None:
    ours, theirs = pty.openpty()
    try:
        done = run_demo(database_url, *SMALL, stderr=theirs)
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0
    assert "Demo trades" in shown
    assert "66%" in shown
    assert "100%" in shown


def test_without_tables_the_command_says_what_to_do(empty_database_url: str) -> None:
    done = run_demo(empty_database_url, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stdout == ""
    database, error = done.stderr.splitlines()
    assert database.startswith("Database: ")
    assert error == "Error: The tables are not up to date: run 'wallet-api migrate' first."


@pytest.mark.parametrize("option", ["--wallets", "--trades", "--days"])
def test_an_empty_world_is_refused(database_url: str, option: str) -> None:
    done = run_demo(database_url, option, "0", stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert option in done.stderr


def test_the_stand_in_logs_no_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        fd, (host, port) = listener.fileno(), listener.getsockname()
        options = ["--fd", str(fd), "--until", "2026-11-20T12:00:00"]
        command = [sys.executable, "-m", "wallet_api.demo.provider", *options]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=[fd]
        ) as process:
            try:
                reply = requests.get(
                    f"http://{host}:{port}/api/v2.2/0x{40 * '1'}/balance",
                    params={"chain": "eth"},
                    headers={"X-API-Key": "a-secret"},
                    timeout=30,
                )
                assert int(reply.json()["balance"]) >= 0
            finally:
                process.terminate()
            assert process.communicate(timeout=10) == ("", "")
