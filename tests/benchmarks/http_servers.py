"""The servers that are measured: gunicorn on a free port with stores of its own, behind nginx if wanted."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import requests

from tests.lib.network import free_port
from tests.lib.nginx import nginx, running_nginx
from tests.lib.processes import Gunicorn, Process, run_program
from tests.lib.waiting import eventually

ROOT = Path(__file__).parents[2]
# nginx as operators get it, but for its limits per address: all requests come from one.
_NGINX_CHANGES = {
    "    limit_req zone=wallet_api_requests burst=200 nodelay;\n": "",
    "    limit_conn wallet_api_connections 100;\n": "",
}
_SCRIPT = Path(__file__).with_name("http_requests.lua")


class MeasurementError(Exception):
    """A server did not start, or did not respond to every request with a 200."""


@dataclass(frozen=True)
class Measured:
    """One run of wrk. CPU is in microseconds per request, latency in milliseconds.

    `worker_mb` is the memory of the largest worker afterwards, with what it shares with others.
    """

    calls_per_second: float
    server_us: float
    postgres_us: float
    valkey_us: float
    p50_ms: float
    p99_ms: float
    worker_mb: float


@contextmanager
def gunicorn(
    name: str, target: str, folder: Path, environment: Mapping[str, str], tree: Path = ROOT
) -> Iterator[Gunicorn]:
    """Run two workers with the production settings and the code of the checkout `tree`."""
    address, log = f"127.0.0.1:{free_port()}", folder / f"{name}.log"
    options = ("--config", str(tree / "config" / "gunicorn.conf.py"), "--bind", address)
    with log.open("wb") as output:
        process: Process[bytes] = Process(
            [
                *(sys.executable, "-m", "gunicorn", *options),
                *("--access-logfile", str(folder / "access.log"), target),
            ],
            env=environment_of(tree, {"WEB_CONCURRENCY": "2", "WEB_THREADS": "8", **environment}),
            cwd=tree,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    server = Gunicorn(f"http://{address}", process, log)
    try:
        if not eventually(lambda: process.poll() is not None or _responds(server)) or process.poll():
            raise MeasurementError(f"A server did not start:\n{server.log[-2000:]}")
        yield server
    finally:
        server.stop()


def _responds(server: Gunicorn) -> bool:
    with suppress(requests.ConnectionError):
        requests.get(server.url, timeout=60)
        return True
    return False


def environment_of(tree: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which Python imports wallet_api from the checkout `tree`."""
    return {**os.environ, "PYTHONPATH": str(tree), **environment}


def run_command_of(tree: Path, environment: Mapping[str, str], *command: str) -> None:
    """Run a command of the checkout `tree`. Raises MeasurementError if it fails."""
    own = {"env": environment_of(tree, environment), "cwd": tree, "capture_output": True, "text": True}
    done = run_program([sys.executable, "-m", "wallet_api", *command], **own, timeout=86_400)
    if done.returncode:
        raise MeasurementError(f"'wallet-api {' '.join(command)}' of {tree} failed:\n{done.stderr}")


@contextmanager
def behind_nginx(server: Gunicorn, folder: Path) -> Iterator[Gunicorn]:
    """Put an nginx with config/nginx.conf in front of the server."""
    if nginx() is None:
        raise MeasurementError("nginx is not installed: apt-get install nginx")
    own = folder / f"nginx-{server.log_file.stem}"
    own.mkdir()
    with running_nginx(own, [server.url], _NGINX_CHANGES) as front:
        yield replace(server, url=front.url)


def stores(folder: Path) -> dict[str, list[psutil.Process]]:
    """Return the first processes of both stores; PostgreSQL's are the ancestors of its backends."""
    names = {"postgres": "postgres", "valkey-server": "valkey"}
    found: dict[str, list[psutil.Process]] = {"postgres": [], "valkey": []}
    # A process that has ended meanwhile has no command line.
    for process in psutil.process_iter(["name", "cmdline"]):
        name = names.get(process.info["name"])
        # A backend has another title, so that only the postmaster's command line has the folder.
        if name and any(part.startswith(str(folder)) for part in process.info["cmdline"] or ()):
            found[name].append(process)
    return found


def measure(server: Gunicorn, folder: Path, calls: Path, seconds: int) -> Measured:
    """Send the requests of the file in order over 16 connections, from a random line on.

    The stores of the server are those in `folder`. Raises MeasurementError unless all requests succeed.
    """
    groups = {"server": [psutil.Process(server.process.pid)], **stores(folder)}
    before = {name: _cpu(processes) for name, processes in groups.items()}
    outcome = _send(server, calls, seconds)
    count = outcome["calls"]
    used = {
        name: sum(now - before[name].get(pid, 0.0) for pid, now in _cpu(processes).items()) / count * 1e6
        for name, processes in groups.items()
    }
    return Measured(
        count / outcome["microseconds"] * 1e6,
        used["server"],
        used["postgres"],
        used["valkey"],
        outcome["p50"] / 1000,
        outcome["p99"] / 1000,
        max(worker.memory_info().rss for worker in psutil.Process(server.process.pid).children()) / 2**20,
    )


def _send(server: Gunicorn, calls: Path, seconds: int) -> dict[str, int]:
    """Run wrk and return what its script prints."""
    program = shutil.which("wrk")
    if program is None:
        raise MeasurementError("wrk, which sends the requests, is not installed: apt-get install wrk")
    options = ["-t1", "-c16", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT), server.url]
    command = [program, *options, "--", str(calls), str(random.randrange(1_000_000))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    outcome: dict[str, int] = next(map(json.loads, (x for x in done.stdout.splitlines() if x[:1] == "{")), {})
    if not outcome:
        raise MeasurementError(f"wrk failed: {done.stdout}{done.stderr}")
    if outcome["refused"] or outcome["failed"] or not outcome["calls"]:
        failure = _first_failure(server, calls)
        raise MeasurementError(f"Not all requests to {server.url} succeeded: {outcome}\n{failure}")
    return outcome


def _first_failure(server: Gunicorn, calls: Path) -> str:
    """Return the response to the first request that fails now, if one does, and the end of the log."""
    for line in calls.read_text().splitlines()[:100]:
        path, key, _ = line.split("\t")
        # The benchmark's own nginx has a certificate that nobody signed; wrk does not verify it either.
        headers = {"Authorization": f"Bearer {key}"}
        response = requests.get(f"{server.url}{path}", headers=headers, timeout=10, verify=False)
        if not response.ok:
            return f"{path}: {response.status_code} {response.text[:500]}\n{server.log[-3000:]}"
    return "None of its first 100 fails now."


def _cpu(roots: list[psutil.Process]) -> dict[int, float]:
    """Return the CPU seconds that each process and its children have used so far, by its id."""
    seconds: dict[int, float] = {}
    for root in roots:
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds[process.pid] = times.user + times.system
    return seconds
