"""A service with eight workers and stores of its own, any of which can be killed."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.http_servers import ROOT, MeasurementError, Server, environment_of, gunicorn
from wallet_api import embedded
from wallet_api.settings import Settings

WORKERS = 8
_RATE = "100000000/minute"


@dataclass(frozen=True)
class Service:
    """The running service, its folder and the environment of its processes."""

    home: Path
    environment: Mapping[str, str]
    server: Server
    stores: ExitStack

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return self.server.url

    def create_key(self, name: str, credits: int) -> str:
        """Create a key with so many credits and no limit that matters."""
        options = ("--credits", str(credits), "--rate", _RATE, "--json")
        key: str = json.loads(command(self.environment, "keys", "create", name, *options))["key"]
        return key

    def credits_left(self, name: str) -> int:
        """Return a key's balance."""
        rows = json.loads(command(self.environment, "keys", "list", "--json"))
        return next(int(row["credits"]) for row in rows if row["name"] == name)

    def kill_worker(self, chance: random.Random) -> None:
        """Kill any worker with SIGKILL; gunicorn starts another one."""
        workers = self.server.workers()
        if workers:
            chance.choice(workers).kill()

    def reload(self) -> None:
        """Replace all workers, as SIGHUP does, and wait for the old ones to exit."""
        old = self.server.workers()
        self.server.process.send_signal(signal.SIGHUP)
        psutil.wait_procs(old, timeout=60)

    def kill_postgres(self) -> None:
        """Kill PostgreSQL with SIGKILL, and start it."""
        self._replace(self._postmaster(), signal.SIGKILL)

    def restart_postgres(self) -> None:
        """Stop PostgreSQL in order, and start it."""
        self._replace(self._postmaster(), signal.SIGINT)

    def kill_valkey(self) -> None:
        """Kill Valkey with SIGKILL, and start it; it comes back empty."""
        valkey = next(
            process
            for process in psutil.process_iter()
            if process.name() == "valkey-server" and str(self.home) in " ".join(process.cmdline())
        )
        self._replace(valkey, signal.SIGKILL)

    def _postmaster(self) -> psutil.Process:
        return psutil.Process(int((self.home / "postgres" / "postmaster.pid").read_text().split()[0]))

    def _replace(self, process: psutil.Process, number: signal.Signals) -> None:
        family = [process, *process.children(recursive=True)]
        process.send_signal(number)
        psutil.wait_procs(family, timeout=60)
        # Long enough for callers to meet it.
        time.sleep(0.5)
        self.stores.enter_context(_running_stores(self.home))


@contextmanager
def running_service(home: Path) -> Iterator[Service]:
    """Run the service in `home`, with empty tables."""
    with ExitStack() as stores:
        settings = stores.enter_context(_running_stores(home))
        environment = {
            "DATABASE_URL": str(settings.database_url),
            "VALKEY_URL": str(settings.valkey_url),
            "WALLET_API_HOME": str(home),
            "WEB_CONCURRENCY": str(WORKERS),
        }
        command(environment, "migrate")
        with gunicorn("service", "wsgi:app", home, environment) as server:
            yield Service(home, environment, server, stores)


@contextmanager
def _running_stores(home: Path) -> Iterator[Settings]:
    with embedded.running(Settings(wallet_api_home=str(home)), valkey=True) as settings:
        yield settings


def command(environment: Mapping[str, str], *arguments: str) -> str:
    """Run `wallet-api` and return its output. Raises MeasurementError when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "wallet_api", *arguments],
        env=environment_of(ROOT, environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MeasurementError(f"'wallet-api {' '.join(arguments)}' failed:\n{done.stderr}")
    return done.stdout
