"""`wallet-api up`: the requests that it prints succeed, it restarts what exits, and it leaves no process."""

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

import psutil
import pytest
import requests

from tests.ledger.in_process import Importer
from tests.lib.backups import refused
from tests.lib.chromium import chromium, needs_chromium
from tests.lib.network import free_port
from tests.lib.processes import is_alive, processes_of, wallet_api
from tests.lib.running_up import LAST_LINE, Up, running_up
from tests.lib.waiting import calm_seconds, eventually
from wallet_api.database import connect, migrations
from wallet_api.operate import embedded
from wallet_api.operate.demo.loading import load_demo
from wallet_api.operate.demo.world import World
from wallet_api.settings import Settings

WALLET = {"blockchain": "eth", "type": "kol", "wallet_address": "0x" + 40 * "a"}


@pytest.fixture(scope="module")
def loaded(home: Path) -> Path:
    """The folder of all tests, with two days of the demo but for the last hours."""
    now = datetime.now(UTC)
    with embedded.running(Settings(wallet_api_home=str(home))) as settings:
        with connect(str(settings.database_url)) as connection:
            migrations.migrate(connection)
        until = World(now - timedelta(hours=6))
        load_demo(str(settings.database_url), until, after=now - timedelta(days=2))
    return home


@pytest.fixture(scope="class")
def up(loaded: Path) -> Iterator[Up]:
    """The demo, which Ctrl-C ends after the last test of a class."""
    with running_up(loaded, number=signal.SIGINT) as up:
        yield up


def _newest(home: Path) -> datetime:
    own = Settings(wallet_api_home=str(home))
    with embedded.running(own) as settings, connect(str(settings.database_url)) as connection:
        newest: datetime = connection.fetch_value("SELECT max(last_seen) AS newest FROM lifetimes")
    return newest


def _call(words: list[str]) -> requests.Response:
    assert words[:2] == ["curl", "-H"]
    name, value = words[2].split(": ", 1)
    while True:
        answer = requests.get(words[3], headers={name: value}, timeout=60)
        # On a busy machine the first balances may take longer than a call waits for them.
        if '"loading":true' not in answer.text:
            return answer


def test_ctrl_c_while_the_demo_loads_ends_everything(home: Path) -> None:
    own = Settings(wallet_api_home=str(home))
    with wallet_api("up", "--port", str(free_port()), settings=own) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Loading" in line:
                break
        # By then, it imports trades.
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.communicate()[0].split() == ["Stopping", "…", "Stopped."]
        assert process.returncode == 0
    assert processes_of(home) == []


class TestWhileItRuns:
    """The demo under one `up`, which has loaded the newest of it."""

    def test_each_printed_call_works_when_pasted(self, up: Up) -> None:
        assert up.output.count(up.key) == 1
        answers = [_call(words).json() for words in up.calls]
        assert [answer.get("error") for answer in answers] == [None] * 9
        data = [answer["data"] for answer in answers]
        wallets, history, holdings, volume, leaderboard, tracker, latest, signals, count = data
        assert wallets["wallets"]
        assert history["trades"]
        assert holdings["active_holdings"]["tokens"][0]["token_address"] == "native"
        assert volume["volume"] > 0
        assert leaderboard["leaderboard"]
        assert tracker["wallet"] == history["profile"]["wallet_address"]
        assert len(latest["transactions"]) == 3
        assert len(signals["signals"]) == 3
        assert count["time_window_seconds"] == 3600

    def test_each_request_of_the_documents_succeeds(self, up: Up) -> None:
        root = Path(__file__).parents[2]
        texts = [file.read_text() for file in (root / "README.md", *(root / "docs").glob("*.md"))]
        with_curl, alone = r'\$KEY" "http://127.0.0.1:8000(/v1/\S+)"', r"^`GET (/v1/\S+)`$"
        paths = {
            path for text in texts for form in (with_curl, alone) for path in re.findall(form, text, re.M)
        }
        # The document shows it with its error.
        paths.remove("/v1/wallets?blockchain=eth&type=whale")
        assert len(paths) > 20
        headers = {"Authorization": f"Bearer {up.key}"}
        # All of them are below the default rate of a key.
        statuses = {
            path: requests.get(up.url + path, headers=headers, timeout=60).status_code for path in paths
        }
        assert set(statuses.values()) == {200}, statuses

    def test_its_key_shows_what_credits_are_left_and_its_provider_is_called_demo(self, up: Up) -> None:
        # Each worker has its own charges at once, and of the others' when they are settled.
        holdings = _call(up.calls[2])
        assert 99_000 < int(holdings.headers["X-Credits-Remaining"]) < 100_000
        metrics = requests.get(f"{up.url}/metrics", timeout=60).text
        assert 'provider="demo"' in metrics
        assert 'provider="alchemy"' not in metrics

    @needs_chromium
    def test_its_page_has_the_wallets_and_its_docs_on_a_phone_an_operation_and_the_key(
        self, up: Up, tmp_path: Path
    ) -> None:
        assert f"in a browser, are at {up.url}/\n" in up.output
        with chromium(tmp_path / "profile") as page:
            page.open(f"{up.url}/")
            page.await_true("document.querySelectorAll('[aria-label=Ranks] tbody tr').length === 40")
            page.resize(390, 844)
            page.open(f"{up.url}/docs")
            page.await_true("document.querySelector('.btn.authorize.locked')")
            operation = "document.querySelector('.opblock')"
            assert page.value(f"{operation}.getBoundingClientRect().bottom") < 844
            assert page.value("document.documentElement.scrollWidth") <= 390
            assert up.key in page.value("document.querySelector('.demo').dataset.key")
            assert page.problems == []

    def test_a_second_up_in_the_same_folder_is_refused(self, up: Up, home: Path) -> None:
        own = Settings(wallet_api_home=str(home))
        assert "is already running in" in refused("up", "--port", str(free_port()), settings=own)

    def test_its_trades_are_of_now_and_further_ones_appear(self, up: Up, home: Path) -> None:
        newest = _newest(home)
        assert datetime.now(UTC) - newest < timedelta(minutes=2)
        assert eventually(lambda: _newest(home) > newest, 90, pause_seconds=1.0)


@pytest.mark.usefixtures("loaded")
def test_the_next_starts_are_quick_show_no_secret_and_clear_away_what_a_kill_left(home: Path) -> None:
    port = free_port()
    if not (home / "demo-key").exists():
        # Alone, it needs a first start of its own.
        with running_up(home):
            pass
    key = (home / "demo-key").read_text().strip()
    assert (home / "demo-key").stat().st_mode & 0o077 == 0
    with running_up(home, port=port, moralis_api_key="moralis-secret") as up:
        assert up.key == key
        assert up.busy_seconds() < 5
        # It has all of its credits again.
        assert _call(up.calls[0]).headers["X-Credits-Remaining"] == "99999"
        left = processes_of(home)
        command_lines = " ".join(" ".join(process.cmdline()) for process in left)
        [master] = up.children("gunicorn")
        for process in master.children():
            # Stopped, they cannot notice that their master has gone, and hold the port.
            process.suspend()
        for process in (psutil.Process(up.process.pid), master):
            process.kill()
        up.process.wait()
    with running_up(home, port=port, number=signal.SIGHUP) as up:
        assert _call(up.calls[0]).status_code == 200
    assert not any(is_alive(process) for process in left)
    logs = "".join(file.read_text() for file in (home / "log").iterdir())
    for secret in (key, "moralis-secret"):
        assert secret not in command_lines + logs


def test_restarts_that_work_are_not_counted_and_five_that_do_not_end_it(home: Path) -> None:
    with running_up(home, "--no-demo") as up:
        assert "keys create NAME" in up.output
        for _ in range(6):
            assert eventually(lambda: requests.get(f"{up.url}/readyz", timeout=60).status_code == 200)
            [postgres] = up.children("postgres")
            postgres.kill()
            assert eventually(lambda first=postgres: up.children("postgres") not in ([], [first]))
        while up.process.poll() is None:
            for gunicorn in up.children("gunicorn"):
                gunicorn.kill()
            time.sleep(0.1)
        assert up.process.stdout is not None
        lines = up.process.stdout.read().splitlines()
    assert up.process.returncode == 1
    assert lines.count("PostgreSQL exited and is started again.") == 6
    assert lines.count("gunicorn exited with status -9 and is started again.") == 5
    assert "Error: gunicorn exited with status -9, and 5 restarts did not help." in lines[-1]
    assert "run 'wallet-api up' again" in lines[-1]
    assert processes_of(home) == []


@pytest.mark.parametrize("later_seconds", [0.0, 0.7])
def test_ctrl_c_in_the_first_second_shows_no_traceback(empty_home: Path, later_seconds: float) -> None:
    options = ("--no-demo", "--port", str(free_port()))
    with wallet_api("up", *options, settings=Settings(wallet_api_home=str(empty_home))) as process:
        started = psutil.Process(process.pid)
        while not any("psycopg_binary" in loaded.path for loaded in started.memory_maps()):
            time.sleep(0.01)
        # Half of its code is loaded by now.
        time.sleep(later_seconds)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert "Traceback" not in output
    assert "KeyboardInterrupt" not in output
    # By the signal itself while nothing had begun, in order afterwards.
    assert process.returncode in (-signal.SIGINT, 130, 0)


def test_a_taken_port_is_reported_before_anything_is_started_with_the_command_for_another(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Path(sys.executable).with_name("wallet-api")
    own = Settings(wallet_api_home=str(empty_home))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        # The command is shown as it was typed.
        for folder, path, shown in (
            (program.parents[1], os.defpath, f"{program.parent.name}/wallet-api"),
            (empty_home.parent, os.defpath, str(program)),
            (empty_home.parent, f"{program.parent}:{os.defpath}", "wallet-api"),
        ):
            monkeypatch.chdir(folder)
            monkeypatch.setenv("PATH", path)
            monkeypatch.setattr(sys, "argv", [str(program), "up"])
            assert refused("up", "--no-demo", "--port", str(port), settings=own) == (
                f"Error: Port {port} of 127.0.0.1 is in use. "
                f"Choose another one: {shown} up --no-demo --port {port + 1}"
            )
    assert not (empty_home / "postgres").exists()


def test_of_two_that_start_at_once_the_first_has_the_port_and_names_the_steps_to_first_wallets(
    empty_home: Path,
) -> None:
    options = ("--no-demo", "--port", str(free_port()))
    with wallet_api("up", *options, settings=Settings(wallet_api_home=str(empty_home))) as first:
        assert first.stdout is not None
        assert first.stdout.readline().startswith("Starting in ")
        other = Settings(wallet_api_home=str(empty_home.with_name("other")))
        with wallet_api("up", *options, settings=other) as second:
            assert second.stdout is not None
            line = second.stdout.readline()
            if line.startswith("Starting"):
                second.terminate()
        lines = list(takewhile(lambda line: LAST_LINE not in line, first.stdout))
        first.terminate()
        first.communicate()
    assert f"Port {options[-1]} of 127.0.0.1 is in use." in line
    assert (first.returncode, second.returncode) == (0, 1)
    commands = [line.partition("wallet-api ")[2] for line in lines if line.startswith("  ")]
    assert [command.partition("    #")[0].rstrip() for command in commands] == [
        "discover MINT MINT --chain solana",
        "import wallets discovered-solana.ndjson",
        "sync trades --since 30d",
    ]


def test_own_servers_and_wallets_get_no_demo_and_a_silent_provider_delays_no_stop(
    empty_home: Path, database_url: str, valkey_url: str
) -> None:
    Importer(database_url).wallets([WALLET])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        own = {"database_url": database_url, "valkey_url": valkey_url, "moralis_api_key": "stub"}
        urls = {"moralis_evm_url": url, "coingecko_url": url, "binance_url": url}
        with running_up(empty_home, **own, **urls) as up:
            processes = processes_of(empty_home)
            programs = {Path(words[0]).name for one in processes if (words := one.info["cmdline"])}
            assert not programs & {"postgres", "valkey-server"}
            assert requests.get(f"{up.url}/v1/wallets", timeout=60).status_code == 401
            assert f"{up.url}/docs" in up.output
            assert not any(word in up.output for word in ("Loading", "KEY=", "curl"))
            # The sync has connected, and waits for a response.
            silent.settimeout(60)
            with silent.accept()[0]:
                started = calm_seconds()
                up.end(empty_home)
                assert calm_seconds() - started < 3
