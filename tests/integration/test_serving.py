"""gunicorn as it runs in production: reloads, stops, and no key in its logs."""

import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import requests

import wallet_api
from tests.lib.processes import Gunicorn, Process, StartGunicorn, environment_of, start_gunicorn, workers
from tests.lib.settings import changed
from tests.lib.waiting import calm_seconds, eventually, waiting
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings


def test_a_wrong_setting_stops_gunicorn_with_its_name_and_no_traceback(gunicorn: StartGunicorn) -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        gunicorn(threads=0)
    assert "WEB_THREADS must be a whole number of at least 1" in str(failure.value)
    assert "Traceback" not in str(failure.value)


def test_a_reload_takes_up_the_code_on_the_disk_and_drops_no_call(
    gunicorn: StartGunicorn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "site" / "wallet_api"
    shutil.copytree(Path(wallet_api.__file__).parent, copy)
    monkeypatch.chdir(copy.parent)
    server = gunicorn()
    assert _version(server) == wallet_api.__version__
    (copy / "__init__.py").write_text('"""As upgraded."""\n\n__version__ = "99.0.0"\n')
    server.process.send_signal(signal.SIGHUP)
    while _version(server) != "99.0.0":
        pass


def test_a_worker_shares_the_memory_of_the_code_when_it_collects_garbage(
    gunicorn: StartGunicorn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All of it, as a worker does that has had many requests.
    (tmp_path / "sitecustomize.py").write_text(
        "import gc, os\nos.register_at_fork(after_in_child=gc.collect)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = gunicorn(workers=1)
    _version(server)
    (worker,) = workers(server)
    memory = worker.memory_full_info()
    assert memory.uss < 0.4 * memory.rss, memory


def test_a_start_clears_away_the_counts_of_killed_gunicorns_alone(gunicorn: StartGunicorn) -> None:
    killed, living = gunicorn(workers=1), gunicorn(workers=1)
    left, kept = _counts_folder(killed), _counts_folder(living)
    family = psutil.Process(killed.process.pid).children(recursive=True)
    killed.process.kill()
    killed.process.wait()
    for worker in family:
        worker.kill()
    psutil.wait_procs(family, timeout=60)
    assert left.is_dir()
    for folder in (left, kept):
        os.utime(folder, (0, 0))
    gunicorn(workers=1)
    assert not left.exists()
    assert any(kept.iterdir())
    assert "wallet_api_requests_total" in requests.get(f"{living.url}/metrics", timeout=60).text


def test_a_stop_waits_for_requests_that_are_under_way(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    server = gunicorn(workers=1, threads=4)
    headers = {"Authorization": f"Bearer {create_key(connection, 'waiting')}"}
    url = f"{server.url}/v1/wallets?blockchain=solana&type=kol&limit="
    with ThreadPoolExecutor(2) as pool:
        with connection.transaction():
            connection.execute("LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE")
            answers = [
                pool.submit(requests.get, f"{url}{limit}", headers=headers, timeout=60) for limit in (1, 2)
            ]
            assert eventually(lambda: waiting(connection) >= 2)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
        assert [answer.result().status_code for answer in answers] == [200, 200]
    assert server.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_has_just_been_forked_loses_no_signal(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    # As on a busy machine, it goes on a second later.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\nos.register_at_fork(after_in_child=lambda: time.sleep(1))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = start_gunicorn(settings, tmp_path / "log", workers=1, threads=2)
    assert eventually(lambda: psutil.Process(server.process.pid).children() != [], pause_seconds=0.01)
    server.process.send_signal(number)
    began = calm_seconds()
    server.process.wait()
    assert "SIGKILL" not in server.log
    assert calm_seconds() - began < 15


def _counts_folder(server: Gunicorn) -> Path:
    links = (file.readlink() for file in Path(f"/proc/{server.process.pid}/fd").iterdir())
    (folder,) = (link for link in links if link.name.startswith("wallet-api-metrics-"))
    return folder


def _version(server: Gunicorn) -> str:
    version: str = requests.get(f"{server.url}/v1/wallets", timeout=60).json()["meta"]["version"]
    return version


def test_chains_without_a_provider_and_an_address_that_others_reach_are_warned_of(
    gunicorn: StartGunicorn, settings: Settings, tmp_path: Path
) -> None:
    of_chains = (
        "No balances can be fetched, and holdings are 503, on these chains:"
        " solana, bnb, rh: MORALIS_API_KEY is not set; eth: ETH_RPC_URL is not set\n"
    )
    of_address = "gunicorn listens on other addresses than the loopback"
    own = changed(settings, eth_provider="rpc", base_provider="alchemy", alchemy_api_key="key")
    logged = gunicorn(own, workers=2).log
    assert logged.count(of_chains) == 1
    assert of_address not in logged
    log = tmp_path / "open.log"
    with log.open("wb") as output:
        started: Process[bytes] = Process(
            [
                *(sys.executable, "-m", "gunicorn", "--config", "python:wallet_api.serving.settings"),
                *("--bind", "0.0.0.0:0", "wallet_api.app:create_app()"),
            ],
            env=environment_of(replace(settings, moralis_api_key="key")),
            stdout=output,
            stderr=output,
        )
    try:
        assert eventually(lambda: of_address in log.read_text() and "Booting worker" in log.read_text())
        assert "No balances" not in log.read_text()
    finally:
        started.terminate()
        started.wait()
