"""gunicorn as it runs in production: what is not HTTP gets our error body too, and no key is logged."""

import asyncio
import json
import os
import shutil
import signal
import socket
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import gunicorn as gunicorn_package
import psutil
import pytest
import requests

import wallet_api
from tests.callers import callers, get
from tests.processes import Gunicorn, StartGunicorn, workers
from tests.waiting import eventually
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings


def _raw(server: Gunicorn, request: bytes) -> tuple[int, str, dict[str, object]]:
    """The status, the content type and the body that these very bytes are answered with."""
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=20) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status_line, *headers = head.decode().split("\r\n")
    types = [line.split(": ", 1)[1] for line in headers if line.lower().startswith("content-type")]
    return int(status_line.split()[1]), types[0], json.loads(body)


def test_gunicorn_is_the_one_that_the_worker_was_written_for() -> None:
    assert gunicorn_package.__version__.partition(".")[0] == "27", (
        "wallet_api/serving/worker.py overrides methods of gunicorn 27's ThreadWorker. Compare that class in"
        f" {gunicorn_package.__version__}, adapt the worker, then raise the bound in setup.cfg and here."
    )


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(b"no http at all\r\n\r\n", 400, id="no HTTP"),
        pytest.param(b"GET /v1/wallets?api_key=wk_secret HTTP/9.9\r\n\r\n", 400, id="unknown version"),
        pytest.param(b"GET /v1/wallets?api_key=wk_secret&a=\x00 HTTP/1.1\r\n\r\n", 400, id="NUL byte"),
        pytest.param(b"GET /v1/wallets HTTP/1.1\r\nbad header\r\n\r\n", 400, id="header without colon"),
        pytest.param(b"GET /v1/wallets?a=" + b"x" * 10_240 + b" HTTP/1.1\r\n\r\n", 414, id="10 kB parameter"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"x" * 10_240 + b"\r\n\r\n", 431, id="long header"),
        pytest.param(b"POST / HTTP/1.1\r\nTransfer-Encoding: odd\r\n\r\n", 501, id="transfer coding"),
    ],
)
def test_what_is_no_request_gets_the_error_body(
    gunicorn: StartGunicorn, request_bytes: bytes, status: int
) -> None:
    server = gunicorn(workers=1, threads=1)
    answered, content_type, body = _raw(server, request_bytes)
    assert (answered, content_type) == (status, "application/json")
    assert body["success"] is False
    assert set(body["error"]) >= {"code", "message", "request_id"}
    assert set(body["meta"]) == {"request_id", "cached", "cache_age_seconds", "version", "timestamp"}
    assert "wk_secret" not in server.log


def test_neither_query_nor_referrer_nor_key_is_logged(gunicorn: StartGunicorn) -> None:
    server = gunicorn(workers=1)
    requests.get(
        f"{server.url}/v1/wallets?api_key=wk_one",
        headers={"Authorization": "Bearer wk_two", "Referer": "http://there/?api_key=wk_three"},
        timeout=20,
    )
    server.stop()
    assert '"GET /v1/wallets HTTP/1.1"' in server.log
    assert "wk_" not in server.log


def test_a_wrong_setting_stops_gunicorn_with_its_name_and_no_traceback(gunicorn: StartGunicorn) -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        gunicorn(threads=0)
    assert "WEB_THREADS must be a whole number of at least 1" in str(failure.value)
    assert "Traceback" not in str(failure.value)


def test_tls_in_gunicorn_is_refused_with_what_to_do(
    gunicorn: StartGunicorn, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither file is opened.
    monkeypatch.setenv("GUNICORN_CMD_ARGS", f"--certfile {__file__} --keyfile {__file__}")
    with pytest.raises(pytest.fail.Exception) as failure:
        gunicorn()
    assert "Remove certfile and keyfile, and let nginx serve it: docs/production.md" in str(failure.value)
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


def test_a_start_clears_away_the_counts_of_killed_gunicorns_alone(gunicorn: StartGunicorn) -> None:
    killed, living = gunicorn(workers=1), gunicorn(workers=1)
    left, kept = _counts_folder(killed), _counts_folder(living)
    family = psutil.Process(killed.process.pid).children(recursive=True)
    killed.process.kill()
    killed.process.wait()
    for worker in family:
        worker.kill()
    psutil.wait_procs(family, timeout=20)
    assert left.is_dir()
    for folder in (left, kept):
        os.utime(folder, (0, 0))
    gunicorn(workers=1)
    assert not left.exists()
    assert any(kept.iterdir())
    assert "wallet_api_requests_total" in requests.get(f"{living.url}/metrics", timeout=20).text


def test_clients_that_are_slow_to_send_hold_up_no_other(gunicorn: StartGunicorn) -> None:
    server = gunicorn(workers=1, threads=8)
    address = urlsplit(server.url)
    call = b"GET /healthz HTTP/1.1\r\nHost: there\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(6):
            slow = stack.enter_context(
                socket.create_connection((str(address.hostname), int(address.port or 0)))
            )
            slow.sendall(call)
            assert slow.recv(65536).startswith(b"HTTP/1.1 200 OK")
            # The next request on the connection is begun, and never ended.
            slow.sendall(call[:-2])
        with requests.Session() as session:
            for _ in range(20):
                assert session.get(f"{server.url}/healthz", timeout=5).status_code == 200


def test_a_stop_waits_for_calls_that_are_under_way_and_not_for_silent_connections(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    server = gunicorn(workers=1, threads=4)
    address = urlsplit(server.url)
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection((str(address.hostname), int(address.port or 0))))
        with _calls_that_wait(server, connection, 2):
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
        assert server.process.wait(8) == 0


def test_a_worker_whose_threads_are_all_busy_leaves_new_connections_to_the_others(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    server = gunicorn(workers=2, threads=1)
    taken = []
    with _calls_that_wait(server, connection, 1):
        # One worker of two is free, and a new connection each time.
        for _ in range(30):
            taken.append(requests.get(f"{server.url}/healthz", timeout=60).elapsed.total_seconds())
    assert max(taken) < 1


def test_a_worker_that_is_stuck_takes_no_connection_that_another_could(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    server = gunicorn(workers=2, threads=1)
    assert eventually(lambda: len(workers(server)) == 2, 20)
    other = workers(server)[1]
    other.suspend()
    with ThreadPoolExecutor(1) as pool, _calls_that_wait(server, connection, 1):
        light = pool.submit(requests.get, f"{server.url}/healthz", timeout=60)
        time.sleep(4)
        assert not light.done()
        other.resume()
        assert light.result(10).status_code == 200


def test_where_all_workers_are_busy_for_long_new_connections_are_taken_all_the_same(
    gunicorn: StartGunicorn,
) -> None:
    server = gunicorn(workers=1, threads=1)
    with callers(get(f"{server.url}/metrics"), threads=16) as met:
        while len(met.answers) < 50:
            time.sleep(0.01)
        waits = [requests.get(f"{server.url}/healthz", timeout=20).elapsed.total_seconds() for _ in range(10)]
    assert met.failures == []
    assert statistics.median(waits) < 0.5, waits


def test_of_many_callers_who_come_at_once_none_waits_for_long(gunicorn: StartGunicorn) -> None:
    server = gunicorn(workers=2, threads=8)
    callers_at_once = 300
    answers = asyncio.run(_answers_until_all_have_one(server, callers_at_once))
    # Until the last of them had its first answer, the others had a few each.
    assert answers < 15 * callers_at_once


async def _answers_until_all_have_one(server: Gunicorn, callers_at_once: int) -> int:
    address = urlsplit(server.url)
    answers = 0
    without = callers_at_once

    async def call() -> None:
        nonlocal answers, without
        reader, writer = await asyncio.open_connection(str(address.hostname), int(address.port or 0))
        own = 0
        while without:
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: there\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))
            await reader.readexactly(int(length.split(b": ")[1]))
            without -= own == 0
            own += 1
            answers += 1
        writer.close()

    await asyncio.wait_for(asyncio.gather(*(call() for _ in range(callers_at_once))), 60)
    return answers


@contextmanager
def _calls_that_wait(server: Gunicorn, connection: Connection, number: int) -> Iterator[None]:
    """While this lasts, so many different calls wait for the database; then they are answered."""
    headers = {"Authorization": f"Bearer {create_key(connection, 'waiting')}"}
    url = f"{server.url}/v1/wallets?blockchain=solana&type=kol&limit="

    def call(limit: int) -> int:
        return requests.get(f"{url}{limit}", headers=headers, timeout=60).status_code

    def all_wait() -> bool:
        found = connection.execute("SELECT count(*) AS n FROM pg_locks WHERE NOT granted").fetchone()
        assert found is not None
        return bool(found["n"] >= number)

    with ThreadPoolExecutor(number) as pool:
        with connection.transaction():
            connection.execute("LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE")
            waiting = [pool.submit(call, limit) for limit in range(1, number + 1)]
            assert eventually(all_wait, 5)
            yield
        assert [call.result() for call in waiting] == [200] * number


def _counts_folder(server: Gunicorn) -> Path:
    links = (file.readlink() for file in Path(f"/proc/{server.process.pid}/fd").iterdir())
    (folder,) = (link for link in links if link.name.startswith("wallet-api-metrics-"))
    return folder


def _version(server: Gunicorn) -> str:
    version: str = requests.get(f"{server.url}/v1/wallets", timeout=20).json()["meta"]["version"]
    return version


def test_chains_without_a_provider_are_named_at_the_start(
    gunicorn: StartGunicorn, settings: Settings
) -> None:
    own = replace(settings, eth_provider="rpc", base_provider="alchemy", alchemy_api_key="key")
    warning = (
        "No balances can be fetched, and holdings are 503, on these chains:"
        " solana, bnb: MORALIS_API_KEY is not set; eth: ETH_RPC_URL is not set\n"
    )
    assert gunicorn(own, workers=2).log.count(warning) == 1
    own = replace(settings, moralis_api_key="key")
    assert "No balances" not in gunicorn(own).log
