"""Processes that live as long as `wallet-api up`; when that is killed, the next one ends them."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import psutil

from wallet_api.embedded.signals import deferred, undisturbed

# gunicorn lets calls that are under way end; see graceful_timeout in serving.
STOP_SECONDS = 25.0

Child = subprocess.Popen[bytes]


class Children:
    """The processes of one `up`, written down in a file as long as they run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._running: dict[str, tuple[Child, float]] = {}

    def end_leftovers(self) -> None:
        """End what an earlier `up` left behind when it was killed."""
        try:
            left = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):
            return
        for pid, created in left:
            # The time tells it from another program that has the number by now.
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if process.create_time() == created:
                    _end(process)
        self._file.unlink()

    @contextmanager
    def running(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], **options: Any
    ) -> Iterator[Child]:
        """A process that is stopped, with all of its own, when this is left."""
        child = None
        try:
            with deferred():
                # A session of its own: Ctrl-C in the terminal is for us, and we end our children in order.
                child = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, **options
                )
            # It is our child, so its number is its own until we have waited for it.
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
        """Raise ClickException when one of them has ended by itself."""
        for name, (child, _) in self._running.items():
            if child.poll() is not None:
                raise click.ClickException(f"{name} ended by itself, with status {child.returncode}.")

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
