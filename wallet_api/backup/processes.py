"""The programs of PostgreSQL as child processes, stopped with the command, and their error messages."""

import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from wallet_api.embedded.signals import deferred, undisturbed

_STOP_SECONDS = 5.0
_ERROR = re.compile(r"(?:error|ERROR|FATAL|PANIC): +(.+)")


class Process:
    """A running program."""

    def __init__(self, process: "subprocess.Popen[bytes]", messages: IO[bytes]) -> None:
        self.process = process
        self._messages = messages

    @property
    def error(self) -> str:
        """The first error message. Later lines, such as a CONTEXT, may contain rows of a table."""
        self._messages.seek(0)
        text = self._messages.read().decode(errors="replace")
        found = _ERROR.search(text)
        return found[1].strip() if found else f"exit status {self.process.returncode}"

    def write(self, data: bytes) -> None:
        """Write all of `data` to its standard input. Raises BrokenPipeError if it has exited."""
        rest = memoryview(data)
        while rest and self.process.stdin is not None:
            rest = rest[self.process.stdin.write(rest) :]

    def close_input(self) -> None:
        """Close its standard input."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str], **streams: Any) -> Iterator[Process]:
    """Yield a program with unbuffered pipes; stop it on exit."""
    process: subprocess.Popen[bytes] | None = None
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **streams}
    with tempfile.TemporaryFile() as messages:
        try:
            with deferred():
                # In a session of its own, it does not receive the Ctrl-C of the terminal.
                process = subprocess.Popen(
                    command,
                    env=environment,
                    stderr=messages,
                    bufsize=0,
                    start_new_session=True,
                    **options,
                )
            yield Process(process, messages)
        finally:
            if process is not None:
                with undisturbed():
                    _stop(process)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    if process.poll() is None:
        # On SIGINT psql cancels its statement, and the server rolls back.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
