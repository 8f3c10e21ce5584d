"""What is measured beside rates: start-up, memory, and the time of the largest response."""

import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.http_cases import Call, write_calls
from tests.benchmarks.http_load import send
from tests.benchmarks.http_servers import Server
from wallet_api.database import connect

_VARIED_CALLS = 100_000
_JSON_AGG = """
SELECT json_agg(listed)::text
  FROM (SELECT address AS wallet_address, name, image_url, twitter, telegram, copytrade_link,
               blockchain, type, 'ETH' AS currency
          FROM wallets
         WHERE blockchain = 'base' AND type = 'smart'
         ORDER BY address) AS listed
"""


def extras(
    wrk: str, service: Server, fresh: Server, database_url: str, calls: Sequence[Call], folder: Path
) -> dict[str, float]:
    """Return seconds of an import, the memory of a worker after many requests, and times of a large one."""
    return {
        **_large(fresh, database_url, calls[-1]),
        "import_seconds": _import_seconds(),
        "varied_calls": _VARIED_CALLS,
        "worker_mb": _worker_mb(wrk, service, write_calls(folder / "calls-varied", calls)),
    }


def _import_seconds() -> float:
    """Return the median time that `import wallet_api.app` takes in its own process, from compiled files."""
    timed = (
        "import time; start = time.perf_counter(); import wallet_api.app; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", timed]
    times = [
        float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(7)
    ]
    return statistics.median(times)


def _worker_mb(wrk: str, server: Server, calls: Path) -> float:
    """Return the memory of the largest process after so many varied requests."""
    sent = 0
    while sent < _VARIED_CALLS:
        sent += send(wrk, server, calls, 5)["calls"]
    return max(process.memory_info().rss for process in server.workers()) / 1e6


def _large(server: Server, database_url: str, call: Call) -> dict[str, float]:
    """Return milliseconds for all wallets of a group of 5,000: over HTTP, and as SELECT json_agg(…) alone."""
    request = urllib.request.Request(
        f"{server.url}{call.path}", headers={"Authorization": f"Bearer {call.key}"}
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
