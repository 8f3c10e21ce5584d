"""The processes of `wallet-api up`: started, started again when they exit, and stopped at the end."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.operate.cli.output import typed
from wallet_api.operate.embedded import locked_home
from wallet_api.operate.embedded.place import EmbeddedError
from wallet_api.operate.embedded.server import Server
from wallet_api.operate.embedded.signals import deferred, undisturbed

MOST_RESTARTS = 5
# A process that has run for so long works.
WORKING_SECONDS = 10.0
# `up` stops within three seconds: first its processes, then PostgreSQL.
STOP_SECONDS = 0.9
POSTGRES_STOP_SECONDS = 0.6
# So long a killed process may take to end.
_KILL_SECONDS = 1.0
_POLL_SECONDS = 0.05
# PostgreSQL is checked less often than child processes, since finding its processes costs more.
_POSTGRES_SECONDS = 1.0
# Is in the environment of all processes that `up` starts, with the home folder as its value.
_MARK = "WALLET_API_UP"


@dataclass
class _Child:
    name: str
    command: Sequence[str]
    log: Path | None
    options: Mapping[str, Any]
    process: "subprocess.Popen[bytes]" = field(init=False)
    started_at: float = field(init=False)
    failures: int = 0

    def start(self) -> None:
        with self.log.open("ab") if self.log else nullcontext() as log, deferred():
            # In a session of its own, it does not receive the Ctrl-C of the terminal.
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self.options,
            )
        self.started_at = time.monotonic()


class Supervisor:
    """The processes of one `up`: a context that stops them at its end, with all that they have started.

    A process that exits is started again, until MOST_RESTARTS in a row did not help; the embedded PostgreSQL
    too, if it is given.
    """

    def __init__(self, home: Path, postgres: Server | None) -> None:
        self._home = home
        self._postgres = postgres
        self._postgres_failures = 0
        self._postgres_checked_at = 0.0
        self._children: list[_Child] = []

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *error: object) -> None:
        with undisturbed():
            for child in self._children:
                child.process.terminate()
            deadline = time.monotonic() + STOP_SECONDS
            while _marked(self._home) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            end_leftovers(self._home)
            for child in self._children:
                child.process.wait()

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: str | None = None,
        **options: Any,
    ) -> None:
        """Start a process, with further options of subprocess.

        Its output goes to the file `log` among the logs, else to the terminal.
        """
        file = self._home / "log" / log if log else None
        marked = {"env": {**environment, _MARK: str(self._home)}} | options
        child = _Child(name, command, file, marked)
        with deferred():
            child.start()
            self._children.append(child)

    def check(self) -> None:
        """Start again what has exited. To be called in a loop.

        Raises ClickException if that does not help, or EmbeddedError if PostgreSQL cannot be started.
        """
        for child in self._children:
            status = child.process.poll()
            if status is not None:
                self._restart(child, status)
        if time.monotonic() - self._postgres_checked_at > _POSTGRES_SECONDS:
            if self._postgres and not self._postgres.is_running():
                self._restart_postgres(self._postgres)
            self._postgres_checked_at = time.monotonic()

    def _restart(self, child: _Child, status: int) -> None:
        if time.monotonic() - child.started_at > WORKING_SECONDS:
            child.failures = 0
        if child.failures == MOST_RESTARTS:
            raise click.ClickException(
                f"{child.name} exited with status {status}, and {MOST_RESTARTS} restarts did not help. "
                f"The reason is in the lines above or in {self._home / 'log'}. Correct it, and run "
                f"'{typed('up')}' again."
            )
        child.failures += 1
        click.echo(f"{child.name} exited with status {status} and is started again.", err=True)
        child.start()

    def _restart_postgres(self, server: Server) -> None:
        click.echo("PostgreSQL exited and is started again.", err=True)
        try:
            with locked_home(self._home):
                server.start()
            self._postgres_failures = 0
        except EmbeddedError:
            self._postgres_failures += 1
            if self._postgres_failures == MOST_RESTARTS:
                raise


def end_leftovers(home: Path) -> None:
    """Kill the processes of an `up` in this folder that has ended or was killed."""
    deadline = time.monotonic() + _KILL_SECONDS
    while (left := _marked(home)) and time.monotonic() < deadline:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(_POLL_SECONDS)


def _marked(home: Path) -> list[psutil.Process]:
    """Return the running processes that an `up` in this folder has started, also those of its children."""
    found = []
    for process in psutil.process_iter():
        # Those of other users cannot be read, and one that has ended has no environment.
        with suppress(psutil.Error, OSError):
            if process.environ().get(_MARK) == str(home):
                found.append(process)
    return found
