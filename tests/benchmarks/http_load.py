"""One measurement of a server: wrk's requests, their latency, and the CPU that they took."""

import json
import random
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.http_servers import MeasurementError, Server

CONNECTIONS = 16
_SCRIPT = Path(__file__).with_name("http_requests.lua")
_NO_WRK = """wrk is not installed. It sends the requests:
  Debian, Ubuntu: apt-get install wrk     Fedora: dnf install wrk     macOS: brew install wrk
  or from source: https://github.com/wg/wrk"""

# The CPU seconds that each process has used so far, by its id.
_Cpu = dict[int, float]


@dataclass(frozen=True)
class Measured:
    """One run of wrk. CPU is in seconds per request, latency in milliseconds.

    `busiest_share` is the share of the server's CPU that its busiest process took.
    """

    calls_per_second: float
    server_cpu: float
    postgres_cpu: float
    valkey_cpu: float
    nginx_cpu: float
    busiest_share: float
    p50: float
    p99: float
    bytes_per_call: float


def find_wrk() -> str:
    """Return the path of the program. Raises MeasurementError, saying how to install it."""
    program = shutil.which("wrk")
    if program is None:
        raise MeasurementError(_NO_WRK)
    return program


def measure(
    wrk: str, server: Server, stores: Mapping[str, list[psutil.Process]], calls: Path, seconds: int
) -> Measured:
    """Send the requests of the file in order over 16 connections, from a random line on.

    Raises MeasurementError unless all succeed.
    """
    groups = {"nginx": [server.front] if server.front else [], **stores}
    before = {name: _cpu(processes) for name, processes in groups.items()}
    server_before = _cpu([server.process])
    outcome = send(wrk, server, calls, seconds)
    server_used = _used(server_before, _cpu([server.process]))
    used = {name: sum(_used(before[name], _cpu(groups[name])).values()) for name in groups}
    count = outcome["calls"]
    return Measured(
        calls_per_second=count / outcome["microseconds"] * 1e6,
        server_cpu=sum(server_used.values()) / count,
        postgres_cpu=used["postgres"] / count,
        valkey_cpu=used["valkey"] / count,
        nginx_cpu=used["nginx"] / count,
        busiest_share=max(server_used.values()) / max(sum(server_used.values()), 0.01),
        p50=outcome["p50"] / 1000,
        p99=outcome["p99"] / 1000,
        bytes_per_call=outcome["bytes"] / count,
    )


def send(wrk: str, server: Server, calls: Path, seconds: int) -> dict[str, int]:
    """Run wrk and return what its script prints. Raises MeasurementError unless all requests succeed."""
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT)]
    arguments = [server.url, "--", str(calls), str(random.randrange(1_000_000))]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    outcome = next((json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")), None)
    if outcome is None:
        raise MeasurementError(f"wrk failed: {done.stdout}{done.stderr}")
    if outcome["refused"] or outcome["failed"] or not outcome["calls"]:
        raise MeasurementError(
            f"Not all requests to {server.name} succeeded: {outcome}\n{_first_failure(server, calls)}"
        )
    found: dict[str, int] = outcome
    return found


def _first_failure(server: Server, calls: Path) -> str:
    """Return the response to the first request that fails now, if one does, and the end of the log."""
    # The benchmark's own nginx has a certificate that nobody signed; wrk does not verify it either.
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    for line in calls.read_text().splitlines()[:100]:
        path, key, _ = line.split("\t")
        request = urllib.request.Request(f"{server.url}{path}", headers={"Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request, timeout=10, context=unverified):
                continue
        except urllib.error.HTTPError as error:
            found = f"{error.code} {error.read(500)!r}"
        except OSError as error:
            found = str(error)
        return f"{path}: {found}\n{server.log.read_text()[-3000:]}"
    return "None of its first 100 fails now."


def _cpu(roots: Iterable[psutil.Process]) -> _Cpu:
    seconds: _Cpu = {}
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            for process in (root, *root.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    seconds[process.pid] = times.user + times.system
    return seconds


def _used(before: _Cpu, after: _Cpu) -> _Cpu:
    return {pid: seconds - before.get(pid, 0.0) for pid, seconds in after.items()}
