"""The processes of `wallet-api up`: started, started again when they exit, and stopped at the end."""

import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.embedded import EmbeddedError, EmbeddedServer
from wallet_api.embedded.signals import deferred, undisturbed

MOST_RESTARTS = 5
# A process that has run for so long works.
WORKING_SECONDS = 10.0
# `up` stops within three seconds: first its processes, then its servers.
STOP_SECONDS = 0.9
SERVER_STOP_SECONDS = 0.6
# So long a killed process may take to end.
_KILL_SECONDS = 1.0
_POLL_SECONDS = 0.05
# The servers are checked less often than child processes, since finding their processes costs more.
_SERVERS_SECONDS = 1.0
# Is in the environment of all processes that `up` starts, with the home folder as its value.
_MARK = "WALLET_API_UP"


@dataclass
class _Child:
    name: str
    command: Sequence[str]
    options: Mapping[str, Any]
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    failures: int = 0

    def start(self) -> None:
        with deferred():
            # In a session of its own, it does not receive the Ctrl-C of the terminal.
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, start_new_session=True, **self.options
            )
        self.started_at = time.monotonic()

    def exit_status(self) -> int | None:
        """Return the status with which it exited; None while it runs."""
        return self.process.poll() if self.process else None


class Supervisor:
    """The processes of one `up`: a context that stops them at its end, with all that they have started.

    A process that exits is started again, until MOST_RESTARTS in a row did not help.
    """

    def __init__(self, home: Path, servers: Sequence[EmbeddedServer]) -> None:
        self._home = home
        self._servers = servers
        self._children: list[_Child] = []
        self._server_failures: Counter[str] = Counter()
        self._logs = ExitStack()
        self._looked_at = time.monotonic()

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *error: object) -> None:
        with undisturbed(), self._logs:
            for child in self._children:
                if child.process is not None and child.exit_status() is None:
                    child.process.terminate()
            deadline = time.monotonic() + STOP_SECONDS
            while _marked(self._home) and time.monotonic() < deadline:
                self._exited()
                time.sleep(_POLL_SECONDS)
            end_leftovers(self._home)
            for child in self._children:
                if child.process is not None:
                    child.process.wait()

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: str | None = None,
        listeners: Sequence[int] = (),
    ) -> None:
        """Start a process.

        Its output goes to the file `log` among the logs, else to the terminal. `listeners` are descriptors
        that it inherits.
        """
        options: dict[str, Any] = {"env": {**environment, _MARK: str(self._home)}, "pass_fds": listeners}
        if log is not None:
            file = self._logs.enter_context((self._home / "log" / log).open("ab"))
            options |= {"stdout": file, "stderr": file}
        self._children.append(_Child(name, command, options))
        self._children[-1].start()

    def check(self) -> None:
        """Raise ClickException if a process has exited unexpectedly."""
        for child in self._exited():
            raise click.ClickException(f"{child.name} exited unexpectedly with status {child.exit_status()}.")

    def look(self) -> None:
        """Start again what has exited. To be called in a loop.

        Raises ClickException if that does not help, or EmbeddedError if a server cannot be started.
        """
        for child in self._exited():
            status = child.exit_status()
            if time.monotonic() - child.started_at > WORKING_SECONDS:
                child.failures = 0
            if child.failures == MOST_RESTARTS:
                raise click.ClickException(
                    f"{child.name} exited with status {status}, and {MOST_RESTARTS} restarts did not help. "
                    f"The reason is in the lines above or in {self._home / 'log'}. Correct it, and run "
                    "'wallet-api up' again."
                )
            child.failures += 1
            click.echo(f"{child.name} exited with status {status} and is started again.", err=True)
            child.start()
        if time.monotonic() - self._looked_at < _SERVERS_SECONDS:
            return
        for server in self._servers:
            if not server.is_running():
                click.echo(f"{server.title} exited and is started again.", err=True)
                self._restart(server)
        self._looked_at = time.monotonic()

    def _restart(self, server: EmbeddedServer) -> None:
        try:
            server.restart()
        except EmbeddedError:
            self._server_failures[server.title] += 1
            if self._server_failures[server.title] == MOST_RESTARTS:
                raise
        else:
            self._server_failures[server.title] = 0

    def _exited(self) -> list[_Child]:
        return [child for child in self._children if child.exit_status() is not None]


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
