"""What befalls a service in production, each with the real thing, and how soon it is over."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import psutil
import psycopg
import pytest
import requests

from tests.ledger.rows import GROUP
from tests.lib.callers import Met, callers, get
from tests.lib.folders import server_folder, small_disk
from tests.lib.nginx import UNLIMITED, nginx, running_nginx
from tests.lib.outages import Outages, is_our_refusal, service_with_own_servers
from tests.lib.processes import StartGunicorn, kill, processes_of, reload, workers
from tests.lib.running_up import Up, running_up
from tests.lib.waiting import calm_seconds, eventually
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, connect
from wallet_api.operate import embedded
from wallet_api.settings import Settings

RECOVERY_SECONDS = 2.0
# `up` first has to see that a process has exited.
UP_RECOVERY_SECONDS = 5.0
# So long calls go on after the end of a cause, to see that it is over.
AFTER_SECONDS = 2.5
PAUSE_SECONDS = 0.05


@pytest.fixture(scope="module")
def outages() -> Iterator[Outages]:
    with (
        server_folder() as home,
        service_with_own_servers(Path(home)) as outages,
    ):
        yield outages


def _go_on() -> None:
    threading.Event().wait(AFTER_SECONDS)


def _wallets(outages: Outages) -> Callable[[requests.Session], requests.Response]:
    return get(f"{outages.gunicorn.url}/v1/wallets", params=GROUP, headers=outages.headers)


def _recovers(met: Met, back: float) -> None:
    """Check that there were only our refusals, and none soon after the cause was over."""
    _only_our_refusals(met)
    recovery = met.recovered_seconds(back)
    print(f"over after {recovery:.2f} s")
    assert recovery < RECOVERY_SECONDS


def _only_our_refusals(met: Met) -> None:
    assert met.failures == []
    assert set(met.statuses) <= {200, 503}
    assert [response.text for response in met.refusals if not is_our_refusal(response)] == []


def test_postgresql_is_killed_and_comes_back(outages: Outages) -> None:
    with callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        outages.kill("postgres")
        assert eventually(lambda: met.statuses[503] > 10)
        assert requests.get(f"{outages.gunicorn.url}/healthz", timeout=60).status_code == 200
        assert requests.get(f"{outages.gunicorn.url}/readyz", timeout=60).status_code == 503
        back = outages.bring_back()
        _go_on()
    _recovers(met, back)
    assert met.statuses[200] > 50


def test_postgresql_is_stopped_and_goes_on(outages: Outages) -> None:
    with callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        with outages.hanging("postgres"):
            threading.Event().wait(6)
            assert requests.get(f"{outages.gunicorn.url}/healthz", timeout=60).status_code == 200
            assert requests.get(f"{outages.gunicorn.url}/readyz", timeout=60).status_code == 503
        back = calm_seconds()
        _go_on()
    _recovers(met, back)
    assert met.statuses[503] > 10
    # The statements that ran end three seconds later, with this timeout.
    assert met.longest_seconds < 5


def test_postgresql_restarts_while_nobody_calls(outages: Outages) -> None:
    call = _wallets(outages)
    with callers(call, threads=8) as met:
        assert eventually(lambda: met.statuses[200] > 50)
    outages.kill("postgres")
    back = outages.bring_back()
    # All connections that lie idle in the pools are dead now.
    with callers(call, threads=8, pause_seconds=PAUSE_SECONDS) as met:
        _go_on()
    _recovers(met, back)
    assert set(met.statuses) == {200}


def test_all_connections_are_taken_by_others(outages: Outages) -> None:
    with ExitStack() as stack, callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        hoard = stack.enter_context(ExitStack())
        with connect(str(outages.settings.database_url)) as connection:
            taken: list[psycopg.Connection[object]] = []
            while met.statuses[503] < 10:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'wallet-api'"
                )
                try:
                    while True:
                        taken.append(psycopg.connect(str(outages.settings.database_url)))
                        hoard.callback(taken[-1].close)
                except psycopg.OperationalError:
                    # All are taken.
                    threading.Event().wait(0.05)
        hoard.close()
        back = calm_seconds()
        _go_on()
    assert len(taken) > 50
    _recovers(met, back)


def test_queries_go_past_their_timeout(outages: Outages) -> None:
    with callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        with psycopg.connect(str(outages.settings.database_url)) as connection:
            connection.execute("LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE")
            assert eventually(
                lambda: any("took too long" in response.text for response in list(met.refusals))
            )
        back = calm_seconds()
        _go_on()
    _recovers(met, back)
    messages = {response.json()["error"]["message"] for response in met.refusals}
    assert any("took too long" in message for message in messages)
    # Those who find two others waiting are refused at once.
    assert all("took too long" in message or "Too many slow" in message for message in messages)


def test_valkey_is_killed_and_comes_back(outages: Outages) -> None:
    counter = "wallet_api_limiter_fallback_calls_total"
    with callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        assert outages.metric(counter) == 0
        outages.kill("valkey")
        assert eventually(lambda: outages.metric(counter) > 20)
        ready = requests.get(f"{outages.gunicorn.url}/readyz", timeout=60)
        assert (ready.status_code, ready.json()["data"]["store"]) == (200, "away")
        back = over = outages.bring_back()
        alone = outages.metric(counter)
        while calm_seconds() < back + AFTER_SECONDS:
            threading.Event().wait(0.05)
            now_alone = outages.metric(counter)
            if now_alone > alone:
                alone, over = now_alone, calm_seconds()
        ready = requests.get(f"{outages.gunicorn.url}/readyz", timeout=60)
        assert ready.json()["data"]["store"] == "ok"
    assert met.failures == []
    assert set(met.statuses) == {200}
    assert over - back < RECOVERY_SECONDS


def test_a_reload_under_load_drops_no_call(outages: Outages) -> None:
    with callers(_wallets(outages), pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        reload(outages.gunicorn)
        reload(outages.gunicorn)
        counted = met.statuses[200]
        assert eventually(lambda: met.statuses[200] > counted + 100)
    assert met.failures == []
    assert set(met.statuses) == {200}


@pytest.mark.skipif(nginx() is None, reason="needs nginx: apt-get install nginx")
def test_a_worker_is_killed_under_load(outages: Outages, tmp_path: Path) -> None:
    with running_nginx(tmp_path, [outages.gunicorn.url], UNLIMITED) as proxy:
        call = get(
            f"{proxy.url}/v1/wallets", params=GROUP, headers=outages.headers, verify=str(proxy.certificate)
        )
        with callers(call, pause_seconds=PAUSE_SECONDS) as met:
            assert eventually(lambda: met.statuses[200] > 20)
            victim = workers(outages.gunicorn)[0]
            victim.send_signal(signal.SIGKILL)
            psutil.wait_procs([victim], timeout=60)
            back = calm_seconds()
            _go_on()
    # When the head of an answer is under way, nginx has nothing left to put in its place.
    broken_off = [failure for failure in met.failures if "IncompleteRead" in failure]
    assert met.failures == broken_off
    met.failures.clear()
    _recovers(met, back)
    # At most the calls that it had in hand.
    assert met.statuses[503] + len(broken_off) <= 4
    assert eventually(lambda: len(workers(outages.gunicorn)) == 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")
@pytest.mark.timeout(90)
def test_the_disk_of_the_database_is_full() -> None:
    with small_disk("200m") as disk, service_with_own_servers(disk) as outages:
        try:
            _fill_and_free(outages)
        except BaseException:
            # The disk takes the log with it.
            print(*(log.read_text()[-4000:] for log in disk.rglob("*.log")), sep="\n")
            raise


def _fill_and_free(outages: Outages) -> None:
    url = f"{outages.gunicorn.url}/v1/wallets"
    pays = {"Authorization": f"Bearer {outages.limited_key}"}
    filler = outages.home / "filler"
    with (
        callers(get(url, params=GROUP, headers=pays), pause_seconds=PAUSE_SECONDS) as paying,
        callers(get(url, params=GROUP, headers=outages.headers), pause_seconds=PAUSE_SECONDS) as free,
    ):
        assert eventually(lambda: paying.statuses[200] > 20)
        with connect(str(outages.settings.database_url)) as connection:
            connection.execute("CREATE TABLE filling (a text)")
            with filler.open("wb") as file:
                _fill(file.fileno())
            _grow_until_full(connection)
        assert eventually(lambda: paying.statuses[503] > 5)
        filler.unlink()
        # PostgreSQL stops where it cannot write its log; a supervisor starts it again.
        back = outages.bring_back()
        _go_on()
    _recovers(paying, back)
    _only_our_refusals(free)
    assert free.recovered_seconds(back) < RECOVERY_SECONDS


def _grow_until_full(connection: Connection) -> None:
    # Tables that cannot grow stop little, for charges go to room that is there; the write-ahead log has to.
    while True:
        try:
            connection.execute("INSERT INTO filling SELECT repeat('x', 2000) FROM generate_series(1, 200)")
        except psycopg.errors.DiskFull:
            with suppress(psycopg.Error):
                connection.execute("DELETE FROM filling")
        except psycopg.Error:
            return
        with suppress(psycopg.Error):
            connection.execute("SELECT pg_switch_wal()")


def _fill(descriptor: int) -> None:
    block = b"\0" * 65536
    while True:
        try:
            if not os.write(descriptor, block):
                return
        except OSError:
            if len(block) == 1:
                return
            block = block[: len(block) // 2]


_FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


@pytest.mark.skipif(_FAKETIME is None, reason="needs libfaketime: apt-get install faketime")
def test_the_clock_is_stepped(
    outages: Outages, gunicorn: StartGunicorn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = tmp_path / "offset"
    offset.write_text("+0")
    # libfaketime breaks the system call under time.sleep when it leaves the monotonic clock alone.
    (tmp_path / "sitecustomize.py").write_text(
        "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], seconds) and None\n"
    )
    for name, value in {
        "LD_PRELOAD": str(_FAKETIME),
        "PYTHONPATH": str(tmp_path),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        # Read again every second, not at each look at the clock.
        "FAKETIME_CACHE_DURATION": "1",
        # A step changes the time of day alone.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
        # Heartbeats of workers are times of files.
        "NO_FAKE_STAT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    call = get(f"{gunicorn(outages.settings).url}/v1/wallets", params=GROUP, headers=outages.headers)
    with callers(call, pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        for days in (2, -2, 0):
            draft = tmp_path / "draft"
            draft.write_text(f"{days:+}d")
            draft.rename(offset)
            # The last ones are of both workers.
            assert eventually(lambda days=days: {_days_off(one) for _, _, one in met.answers[-20:]} == {days})
    assert met.failures == []
    assert [response.text for response in met.refusals] == []


def _days_off(response: requests.Response) -> int:
    stepped = datetime.fromisoformat(response.json()["meta"]["timestamp"]) - datetime.now(UTC)
    return round(stepped / timedelta(days=1))


@pytest.fixture(scope="module")
def up(home: Path) -> Iterator[Up]:
    with running_up(home, "--no-demo") as up:
        yield up


@pytest.mark.parametrize("name", ["postgres", "valkey", "gunicorn"])
def test_up_starts_again_what_is_killed(up: Up, home: Path, name: str) -> None:
    with (
        embedded.running(Settings(wallet_api_home=str(home))) as running,
        connect(str(running.database_url)) as connection,
    ):
        key = create_key(connection, f"caller of {name}", rate="1000000/second")
    headers = {"Authorization": f"Bearer {key}"}

    def processes() -> list[psutil.Process]:
        return up.children(name) if name == "gunicorn" else processes_of(home / name)

    call = get(f"{up.url}/v1/transactions/volume", params=GROUP, headers=headers)
    with callers(call, pause_seconds=PAUSE_SECONDS) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        start = calm_seconds()
        killed = processes()
        kill(killed)
        assert eventually(lambda: set(processes()) - set(killed) != set())
        _go_on()
    assert name == "gunicorn" or met.failures == []
    assert len(met.failures) <= 4
    assert set(met.statuses) <= {200, 503}
    assert [response.text for response in met.refusals if not is_our_refusal(response)] == []
    answered = [start, *(ended for ended, status, _ in met.answers if status == 200 and ended > start)]
    recovery = max(later - earlier for earlier, later in pairwise(sorted(answered)))
    print(f"over after {recovery:.2f} s")
    assert recovery < UP_RECOVERY_SECONDS
