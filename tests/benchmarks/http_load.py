"""Servers to be measured, and one measurement: wrk's calls, their times, and the CPU that they took."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

CONNECTIONS = 16
WORKERS = 2
THREADS = 8
_SCRIPT = Path(__file__).with_name("http_requests.lua")
_NO_WRK = """wrk is not installed. It is what sends the calls:
  Debian, Ubuntu: apt-get install wrk     Fedora: dnf install wrk     macOS: brew install wrk
  or from source: https://github.com/wg/wrk"""


class MeasurementError(Exception):
    """A server did not start, or did not answer every call with a 200."""


@dataclass(frozen=True)
class Server:
    """A server that runs: its address without a slash at the end, and its first process."""

    url: str
    process: psutil.Process

    def processes(self) -> list[psutil.Process]:
        """All of its processes."""
        return [self.process, *self.process.children(recursive=True)]

    def workers(self) -> list[psutil.Process]:
        """The processes that answer."""
        return self.process.children(recursive=True)


@dataclass(frozen=True)
class Measured:
    """One run of wrk. `server_cpu` and `stores_cpu` are seconds a call, the times are milliseconds."""

    calls_per_second: float
    server_cpu: float
    stores_cpu: float
    p50: float
    p99: float
    bytes_per_call: float


def find_wrk() -> str:
    """The program. Raises MeasurementError, saying how to install it."""
    program = shutil.which("wrk")
    if program is None:
        raise MeasurementError(_NO_WRK)
    return program


@contextmanager
def gunicorn(target: str, log: Path, environment: Mapping[str, str], *options: str) -> Iterator[Server]:
    """gunicorn with the service's own settings, serving `target`."""
    options = ("--config", "python:wallet_api.serving", *options, target)
    own = {"WEB_CONCURRENCY": str(WORKERS), "WEB_THREADS": str(THREADS)} | dict(environment)
    with _running(["-m", "gunicorn", "--bind", "127.0.0.1:{port}", *options], log, own) as server:
        yield server


@contextmanager
def uvicorn(target: str, log: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    """uvicorn with as many workers, on its fast loop and parser; with its access log, as gunicorn has one."""
    options = ("--port", "{port}", "--workers", str(WORKERS), "--log-level", "info", "--access-log")
    fast = ("--loop", "uvloop", "--http", "httptools")
    with _running(["-m", "uvicorn", *options, *fast, target], log, environment) as server:
        yield server


def measure(
    wrk: str,
    server: Server,
    stores: Iterable[psutil.Process],
    paths: Path,
    seconds: float,
    key: str = "",
    headers: Mapping[str, str] | None = None,
) -> Measured:
    """Ask the paths in the file in turn over 16 connections. Raises MeasurementError unless all succeed."""
    kept = list(stores)
    server_before, stores_before = _cpu(server.processes()), _cpu(kept)
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT)]
    extra = [f"{name}:{value}" for name, value in (headers or {}).items()]
    done = subprocess.run(
        [*command, server.url, "--", str(paths), key, *extra], capture_output=True, text=True, check=False
    )
    outcome = _outcome(done.stdout)
    if outcome is None:
        raise MeasurementError(f"wrk failed: {done.stdout}{done.stderr}")
    calls = outcome["calls"]
    if outcome["refused"] or outcome["failed"] or not calls:
        raise MeasurementError(f"{server.url}: of {calls} calls to {paths.name} not all succeeded: {outcome}")
    return Measured(
        calls_per_second=calls / outcome["microseconds"] * 1e6,
        server_cpu=(_cpu(server.processes()) - server_before) / calls,
        stores_cpu=(_cpu(kept) - stores_before) / calls,
        p50=outcome["p50"] / 1000,
        p99=outcome["p99"] / 1000,
        bytes_per_call=outcome["bytes"] / calls,
    )


def _outcome(output: str) -> dict[str, int] | None:
    for line in output.splitlines():
        if line.startswith("{"):
            found: dict[str, int] = json.loads(line)
            return found
    return None


def _cpu(processes: Iterable[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


@contextmanager
def _running(command: list[str], log: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *(part.format(port=port) for part in command)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _await_answer(url, process, log)
        yield Server(url, psutil.Process(process.pid))
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_answer(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/", timeout=60):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise MeasurementError(f"A server did not start:\n{log.read_text()[-2000:]}")
