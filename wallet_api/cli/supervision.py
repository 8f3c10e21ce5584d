"""The processes of `wallet-api up`: started, listed, started again when they exit, and stopped at the end."""

import json
import subprocess
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.embedded import EmbeddedServer
from wallet_api.embedded.signals import deferred, undisturbed

MOST_RESTARTS = 5
WITHIN_SECONDS = 60.0
# gunicorn completes its current requests first; see graceful_timeout in serving.
STOP_SECONDS = 25.0
# The servers are checked less often than child processes, since finding their processes costs more.
_SERVERS_SECONDS = 1.0


@dataclass
class Child:
    """A process that can be started again."""

    name: str
    command: Sequence[str]
    options: Mapping[str, Any]
    process: psutil.Popen | None = None
    started_at: float = 0.0

    def start(self) -> None:
        """Start the process."""
        with deferred():
            # In a session of its own, it does not receive the Ctrl-C of the terminal.
            self.process = psutil.Popen(
                self.command, stdin=subprocess.DEVNULL, start_new_session=True, **self.options
            )
        # Now, since a process that has exited has no such time.
        self.started_at = self.process.create_time()

    def stop(self) -> None:
        """Stop the process and its children, unless it has exited."""
        if self.process is not None and self.process.poll() is None:
            _end(self.process)

    def exit_status(self) -> int | None:
        """Return the status with which it exited; None while it runs."""
        status: int | None = self.process.poll() if self.process else None
        return status


class Supervisor:
    """The processes of one `up`, each started again at most MOST_RESTARTS times in WITHIN_SECONDS.

    `servers` are the embedded servers to watch. Child processes are listed in a file while they run: if this
    command is killed, the next `up` stops them.
    """

    def __init__(self, home: Path) -> None:
        self.servers: Sequence[EmbeddedServer] = ()
        self._logs = home / "log"
        self._file = home / "up.json"
        self._children: list[Child] = []
        self._restarts: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=MOST_RESTARTS))
        self._looked_at = time.monotonic()

    def end_leftovers(self) -> None:
        """Stop the processes of an earlier `up` that was killed."""
        try:
            left = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):
            return
        for pid, created in left:
            # Another program may have this process id by now; its start time differs.
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if process.create_time() == created:
                    _end(process)
        self._file.unlink()

    @contextmanager
    def running(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: str | None = None,
        listeners: Sequence[int] = (),
    ) -> Iterator[None]:
        """Run a process in this block. On exit, stop it and its children.

        Its output goes to the file `log` among the logs, else to the terminal. `listeners` are descriptors
        that it inherits.
        """
        with ExitStack() as stack:
            options: dict[str, Any] = {"env": environment, "pass_fds": listeners}
            if log is not None:
                file = stack.enter_context((self._logs / log).open("ab"))
                options |= {"stdout": file, "stderr": file}
            child = Child(name, command, options)
            self._children.append(child)
            try:
                child.start()
                self._note()
                yield
            finally:
                with undisturbed():
                    child.stop()
                    self._children.remove(child)
                    self._note()

    def check(self) -> None:
        """Raise ClickException if a child process has exited unexpectedly."""
        for child in self._exited():
            raise click.ClickException(f"{child.name} exited unexpectedly with status {child.exit_status()}.")

    def look(self) -> None:
        """Start again what has exited. To be called in a loop.

        Raises ClickException if it exits too often, or EmbeddedError if it cannot be started.
        """
        for child in self._exited():
            self._announce(child.name, f" with status {child.exit_status()}")
            child.start()
            self._note()
        if time.monotonic() - self._looked_at < _SERVERS_SECONDS:
            return
        for server in self.servers:
            if not server.is_running():
                self._announce(server.title)
                server.restart()
        self._looked_at = time.monotonic()

    def _exited(self) -> list[Child]:
        return [child for child in self._children if child.exit_status() is not None]

    def _announce(self, name: str, status: str = "") -> None:
        now = time.monotonic()
        restarts = self._restarts[name]
        if len(restarts) == MOST_RESTARTS and now - restarts[0] < WITHIN_SECONDS:
            raise click.ClickException(
                f"{name} exited{status}, and {MOST_RESTARTS} restarts in {WITHIN_SECONDS:.0f} seconds did "
                f"not help. The reason is in the lines above or in {self._logs}. Correct it, and run "
                "'wallet-api up' again."
            )
        restarts.append(now)
        click.echo(f"{name} exited{status} and is started again.", err=True)

    def _note(self) -> None:
        started = [(child.process.pid, child.started_at) for child in self._children if child.process]
        if started:
            self._file.write_text(json.dumps(started))
        else:
            self._file.unlink(missing_ok=True)


def _end(process: psutil.Process) -> None:
    family = [process, *process.children(recursive=True)]
    process.terminate()
    psutil.wait_procs([process], timeout=STOP_SECONDS)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    psutil.wait_procs(family, timeout=STOP_SECONDS)
