"""A caller who follows the feed of an operator's ledger over HTTP, and how late a trade is in it."""

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.ledger.follower import Follower
from tests.ledger.in_process import parsed
from tests.lib.processes import start_gunicorn
from tests.sync.operator import Operator
from wallet_api.api.keys import create_key
from wallet_api.database import connect
from wallet_api.settings import Settings


@dataclass
class HttpCaller:
    """Sends requests over HTTP, as callers do."""

    url: str
    key: str
    session: requests.Session

    def get(self, path: str, **parameters: Any) -> Any:
        """Return the data of a successful response."""
        headers = {"Authorization": f"Bearer {self.key}"}
        response = self.session.get(f"{self.url}/v1{path}", params=parameters, headers=headers, timeout=30)
        response.raise_for_status()
        return parsed(response.content)["data"]


@contextmanager
def followed(operator: Operator, chain: str) -> Iterator[Follower]:
    """Run the service over the operator's ledger, and yield who follows the feed of a chain."""
    with tempfile.TemporaryDirectory(prefix="wallet-followed-") as home, connect(operator.url) as connection:
        key = create_key(connection, "follower", rate="1000000/minute")
        settings = Settings(database_url=operator.url, wallet_api_home=home)
        server = start_gunicorn(settings, Path(home) / "server.log", workers=1, threads=4)
        try:
            caller = HttpCaller(server.url, key, requests.Session())
            yield Follower(caller, blockchain=chain, type="kol")
        finally:
            server.stop()


def shown(delays: Sequence[float]) -> str:
    """Return within which seconds a half, and nearly all of them were."""
    parts = statistics.quantiles(delays, n=100)
    return f"half within {parts[49]:.2f} s, 90 % {parts[89]:.2f} s, 99 % {parts[98]:.2f} s"


def load() -> str:
    """Return the load of the machine."""
    return f"load of the machine {', '.join(f'{load:.1f}' for load in psutil.getloadavg())}"
