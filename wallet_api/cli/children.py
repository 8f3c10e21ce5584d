"""The child processes of `wallet-api up`. If it is killed, the next `up` stops them."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.embedded.signals import deferred, undisturbed

# gunicorn completes its current requests first; see graceful_timeout in serving.
STOP_SECONDS = 25.0


@dataclass
class Child:
    """A process that can be started again. `born` is its start time, which another one does not have."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    may_finish: bool
    options: Mapping[str, Any]
    process: "subprocess.Popen[bytes] | None" = None
    born: float = 0.0

    def start(self) -> None:
        """Start the process."""
        with deferred():
            # In a session of its own, it does not receive the Ctrl-C of the terminal.
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **self.options,
            )
        # The process id of a child is not reused before wait() has returned.
        self.born = psutil.Process(self.process.pid).create_time()

    def stop(self) -> None:
        """Stop the process and its children, unless it has exited."""
        if self.process is not None and self.process.poll() is None:
            _end(psutil.Process(self.process.pid))
            self.process.wait()

    def exit_status(self) -> int | None:
        """Return the status of an unexpected exit. With `may_finish`, status 0 is expected."""
        status = self.process.poll() if self.process else None
        return None if status == 0 and self.may_finish else status


class Children:
    """The processes of one `up`, listed in a file while they run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._running: list[Child] = []

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
        may_finish: bool = False,
        **options: Any,
    ) -> Iterator[None]:
        """Run a process in this block. On exit, stop it and its children.

        It may exit before that with status 0 if it `may_finish`.
        """
        child = Child(name, command, environment, may_finish, options)
        self._running.append(child)
        try:
            child.start()
            self._note()
            yield
        finally:
            with undisturbed():
                child.stop()
                self._running.remove(child)
                self._note()

    def exited(self) -> list[Child]:
        """Return the processes that have exited unexpectedly."""
        return [child for child in self._running if child.exit_status() is not None]

    def check(self) -> None:
        """Raise ClickException if a process has exited unexpectedly."""
        for child in self.exited():
            raise click.ClickException(f"{child.name} exited unexpectedly with status {child.exit_status()}.")

    def restart(self, child: Child) -> None:
        """Start a process that has exited again."""
        child.start()
        self._note()

    def _note(self) -> None:
        started = [(child.process.pid, child.born) for child in self._running if child.process]
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
