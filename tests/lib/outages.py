"""A service on servers of its own, which a test can kill and start again."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import requests

from tests.lib.processes import Gunicorn, kill_all, processes_of, running_valkey, start_gunicorn
from tests.lib.waiting import calm_seconds
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, connect, migrations
from wallet_api.operate import embedded
from wallet_api.settings import Settings


@dataclass(frozen=True)
class Outages:
    """A service on servers of its own, and its keys. Times are by `calm_seconds`."""

    settings: Settings
    gunicorn: Gunicorn
    key: str
    limited_key: str
    stack: ExitStack

    @property
    def home(self) -> Path:
        """The folder of the servers."""
        return Path(self.settings.wallet_api_home)

    @property
    def headers(self) -> dict[str, str]:
        """The header with the unlimited key."""
        return {"Authorization": f"Bearer {self.key}"}

    def kill(self, server: str) -> None:
        """Kill all processes of 'postgres' or 'valkey'."""
        kill_all(self.home / server)

    @contextmanager
    def hanging(self, server: str) -> Iterator[None]:
        """Stop all processes of a server in this block, as with a disk that does not respond."""
        stopped = processes_of(self.home / server)
        try:
            for process in stopped:
                # A backend may end by itself meanwhile.
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
            yield
        finally:
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def bring_back(self) -> float:
        """Start the servers that do not run, and return the time of their first connection."""
        own = Settings(wallet_api_home=self.settings.wallet_api_home)
        self.stack.enter_context(embedded.running(own))
        self.stack.enter_context(running_valkey(self.home))
        return calm_seconds()

    def metric(self, name: str) -> float:
        """Return the sum of a counter over all labels."""
        text = requests.get(f"{self.gunicorn.url}/metrics", timeout=60).text
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


@contextmanager
def service_with_own_servers(home: Path, **changes: object) -> Iterator[Outages]:
    """Run gunicorn with two workers on a PostgreSQL and a Valkey below `home`."""
    with ExitStack() as stack:
        own = Settings(wallet_api_home=str(home))
        running = stack.enter_context(embedded.running(own))
        with connect(str(running.database_url)) as connection:
            migrations.migrate(connection)
            key = create_key(connection, "caller", rate="1000000/second")
            limited_key = create_key(connection, "limited", rate="1000000/second", credits=1_000_000)
        settings = Settings(
            **(
                {
                    "database_url": running.database_url,
                    "valkey_url": stack.enter_context(running_valkey(home)),
                    "wallet_api_home": str(home),
                    "statement_timeout_seconds": 1.0,
                    "leaderboard_ttl_seconds": 0.0,
                }
                | changes
            )
        )
        gunicorn = start_gunicorn(settings, home / "gunicorn.log", workers=2, threads=4)
        stack.callback(gunicorn.stop)
        requests.get(f"{gunicorn.url}/healthz", timeout=60)
        yield Outages(settings, gunicorn, key, limited_key, stack)


def no_connections(servers: Settings, connection: Connection) -> AbstractContextManager[None]:
    """End all sessions of the database except `connection`, and refuse others in this block."""
    return _altered(servers, connection, "ALLOW_CONNECTIONS false", "ALLOW_CONNECTIONS true")


def read_only(servers: Settings, connection: Connection) -> AbstractContextManager[None]:
    """Make the database read-only in this block, as before a move, for all sessions but `connection`."""
    setting = "SET default_transaction_read_only"
    return _altered(servers, connection, f"{setting} = on", f"{setting} = off")


@contextmanager
def _altered(servers: Settings, connection: Connection, before: str, after: str) -> Iterator[None]:
    name = connection.info.dbname
    with connect(str(servers.database_url)) as administrator:
        administrator.execute(f"ALTER DATABASE {name} {before}".encode())
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
            [name, connection.info.backend_pid],
        )
        yield
        administrator.execute(f"ALTER DATABASE {name} {after}".encode())


def is_our_refusal(response: requests.Response) -> bool:
    """Return whether a response is the JSON error of an outage with Retry-After."""
    return (
        response.status_code == 503
        and response.headers["Content-Type"] == "application/json"
        and response.json()["error"]["code"] == "service_unavailable"
        and int(response.headers["Retry-After"]) >= 1
        and response.json()["error"]["retry_after_seconds"] == int(response.headers["Retry-After"])
    )


def socket_folder(url: str) -> str:
    """Return the folder of the server's socket in a URL."""
    return urlsplit(url).query.removeprefix("host=")
