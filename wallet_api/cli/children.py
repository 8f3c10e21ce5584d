"""The child processes of `wallet-api up`. If it is killed, the next `up` stops them."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.embedded.signals import deferred, undisturbed

# gunicorn completes its current requests first; see graceful_timeout in serving.
STOP_SECONDS = 25.0

Child = subprocess.Popen[bytes]


class Children:
    """The processes of one `up`, listed in a file while they run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._running: dict[str, tuple[Child, float]] = {}
        self._may_finish: set[str] = set()

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
    ) -> Iterator[Child]:
        """Yield a new process. On exit, stop it and its children.

        `check` lets it exit before that, with status 0, if it `may_finish`.
        """
        child = None
        if may_finish:
            self._may_finish.add(name)
        try:
            with deferred():
                # In a session of its own, it does not receive the Ctrl-C of the terminal.
                child = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, **options
                )
            # The process id of a child is not reused before wait() has returned.
            self._running[name] = child, psutil.Process(child.pid).create_time()
            self._note()
            yield child
        finally:
            with undisturbed():
                if child is not None and child.poll() is None:
                    _end(psutil.Process(child.pid))
                    child.wait()
                self._running.pop(name, None)
                self._note()

    def check(self) -> None:
        """Raise ClickException if a process has exited."""
        for name, (child, _) in self._running.items():
            if child.poll() is not None and not (name in self._may_finish and child.returncode == 0):
                raise click.ClickException(f"{name} exited unexpectedly with status {child.returncode}.")

    def _note(self) -> None:
        if self._running:
            self._file.write_text(json.dumps([(child.pid, born) for child, born in self._running.values()]))
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
