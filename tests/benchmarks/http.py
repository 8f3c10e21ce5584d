"""Measures the HTTP side: `make bench`, or `python -m tests.benchmarks.http --help`.

Bare Flask, raw WSGI, every operation through the whole gate, and a peer answer one after the other, round by
round, so that whatever else the machine does falls on all of them; ratios are made within a round. How to
read the figures: docs/benchmarks-http.md.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import psutil

from tests.benchmarks import http_report
from tests.benchmarks.http_cases import Case, cases, mixed
from tests.benchmarks.http_load import (
    Measured,
    MeasurementError,
    Server,
    find_wrk,
    gunicorn,
    measure,
    uvicorn,
)
from tests.benchmarks.http_world import Made, make
from wallet_api import embedded
from wallet_api.database import connect
from wallet_api.settings import Settings

_MIXED_CALLS = 100_000
_SERVICE = "wallet_api.app:create_app()"
_FLASK = "tests.benchmarks.peers.bare_flask:app"
_JSON_AGG = """
SELECT json_agg(listed)::text
  FROM (SELECT address AS wallet_address, name, image_url, twitter, telegram, copytrade_link,
               blockchain, type, 'ETH' AS currency
          FROM wallets
         WHERE blockchain = 'base' AND type = 'smart'
         ORDER BY address) AS listed
"""


@click.command()
@click.option("--rounds", default=3, show_default=True, help="How often each case is measured.")
@click.option("--seconds", default=2, show_default=True, help="How long each time.")
@click.option("--only", default="", help="Only cases whose name holds this, and bare Flask.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), default=Path("build/bench-http.json"))
def main(rounds: int, seconds: int, only: str, json_file: Path) -> None:
    """Measure the HTTP side; a table on standard output, all figures in a JSON file."""
    try:
        figures = _measured(find_wrk(), rounds, seconds, only)
    except MeasurementError as error:
        raise click.ClickException(str(error)) from error
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(figures, indent=2) + "\n")
    click.echo(http_report.table(figures))
    click.echo(f"\nAll figures: {json_file}")


def _measured(wrk: str, rounds: int, seconds: int, only: str) -> dict[str, Any]:
    with ExitStack() as stack:
        # Short: a socket's address has room for a hundred characters.
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-bench-")))
        settings = stack.enter_context(embedded.running(Settings(wallet_api_home=str(home)), valkey=True))
        made = make(str(settings.database_url))
        chosen = {name: case for name, case in cases(made).items() if only in name or name == "bare Flask"}
        servers = stack.enter_context(_servers(settings, home, {case.server for case in chosen.values()}))
        stores = [
            process
            for process in psutil.process_iter()
            if process.name() in ("postgres", "valkey-server") and str(home) in " ".join(process.cmdline())
        ]
        paths = _path_files(home, chosen)

        def measured(name: str, seconds: int) -> Measured:
            case = chosen[name]
            backends = [process for store in stores for process in (store, *store.children(recursive=True))]
            server = servers[case.server]
            return measure(wrk, server, backends, paths[name], max(1, seconds), made.key, case.headers)

        runs: list[http_report.Run] = []
        # The round before the first is not counted: plans, caches and leases get warm.
        for number in range(-1, rounds):
            run = http_report.Run({}, {})
            length = seconds if number >= 0 else seconds // 2
            beside = measured(http_report.YARDSTICK, length // 2)
            for name in chosen:
                click.echo(f"\rround {number + 1} of {rounds}: {name:40}", nl=False, err=True)
                before, run.cases[name] = beside, measured(name, length)
                beside = measured(http_report.YARDSTICK, length // 2)
                run.yardsticks[name] = (before.calls_per_second + beside.calls_per_second) / 2
            runs.append(run)
        found: dict[str, Any] = {"cases": http_report.figures(chosen, runs[1:])}
        if not only:
            click.echo(f"\r{'start-up, memory, the large answer':60}", nl=False, err=True)
            found["large"] = _large(servers["fresh"], str(settings.database_url), made)
            found["import_seconds"] = _import_seconds()
            found["mixed_calls"] = _MIXED_CALLS
            found["worker_mb"] = _worker_mb(wrk, servers["service"], home, made)
        click.echo(f"\r{'':60}\r", nl=False, err=True)
        return found | {
            "machine": {"cores": psutil.cpu_count(), "load": os.getloadavg(), "python": sys.version},
            "rounds": [asdict(run) for run in runs[1:]],
        }


@contextmanager
def _servers(settings: Settings, home: Path, wanted: set[str]) -> Iterator[dict[str, Server]]:
    environment = {
        "DATABASE_URL": str(settings.database_url),
        "VALKEY_URL": str(settings.valkey_url),
        "WALLET_API_HOME": str(home),
        # The snapshots of this database are as old as it is, and there is no provider to ask.
        "HOLDINGS_TTL_SECONDS": "86400",
    }
    kept_nothing = {"ANSWER_TTL_SECONDS": "0", "LEADERBOARD_TTL_SECONDS": "0", "HOLDINGS_CACHE_BYTES": "1"}
    logs = ("--access-logfile", str(home / "access.log"))
    with ExitStack() as stack:
        makers = {
            "flask": lambda log: gunicorn(_FLASK, log, environment, *logs),
            "gthread": lambda log: gunicorn(_FLASK, log, environment, *logs, "--worker-class", "gthread"),
            "wsgi": lambda log: gunicorn("tests.benchmarks.peers.raw_wsgi:app", log, environment, *logs),
            "service": lambda log: gunicorn(_SERVICE, log, environment, *logs),
            "fresh": lambda log: gunicorn(_SERVICE, log, environment | kept_nothing, *logs),
            "peer": lambda log: uvicorn("tests.benchmarks.peers.fastapi_gated:app", log, environment),
        }
        yield {name: stack.enter_context(makers[name](home / f"{name}.log")) for name in sorted(wanted)}


def _path_files(home: Path, chosen: Mapping[str, Case]) -> dict[str, Path]:
    files = {}
    for number, (name, case) in enumerate(chosen.items()):
        files[name] = home / f"paths-{number}"
        files[name].write_text("\n".join(case.paths) + "\n")
    return files


def _import_seconds() -> float:
    """The median time that `import wallet_api.app` takes in a process of its own, from compiled files."""
    timed = (
        "import time; start = time.perf_counter(); import wallet_api.app; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", timed]
    times = [
        float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(7)
    ]
    return statistics.median(times)


def _worker_mb(wrk: str, server: Server, home: Path, made: Made) -> float:
    """The memory of the largest process after so many mixed calls."""
    file = home / "paths-mixed"
    file.write_text("\n".join(mixed(made)) + "\n")
    calls = 0.0
    while calls < _MIXED_CALLS:
        measured = measure(wrk, server, [], file, 5, made.key)
        calls += measured.calls_per_second * 5
    return max(process.memory_info().rss for process in server.workers()) / 1e6


def _large(server: Server, database_url: str, made: Made) -> dict[str, float]:
    """Milliseconds for all wallets of a group of 5,000: over HTTP, and as SELECT json_agg(…) alone."""
    request = urllib.request.Request(
        f"{server.url}/v1/wallets?blockchain=base&type=smart",
        headers={"Authorization": f"Bearer {made.key}"},
    )
    ours, aggregated = [], []
    with connect(database_url) as connection:
        for _ in range(25):
            start = time.perf_counter()
            with urllib.request.urlopen(request, timeout=60) as response:
                response.read()
            middle = time.perf_counter()
            connection.execute(_JSON_AGG).fetchone()
            ours.append(middle - start)
            aggregated.append(time.perf_counter() - middle)
    return {"http_ms": statistics.median(ours) * 1e3, "json_agg_ms": statistics.median(aggregated) * 1e3}


if __name__ == "__main__":
    main()
