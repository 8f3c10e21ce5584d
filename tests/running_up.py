"""A running `wallet-api up`."""

import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.processes import wallet_api
from wallet_api.settings import Settings

_LAST_LINE = "Ctrl-C stops everything"


@dataclass
class Up:
    """A running `up` and what it has printed up to its last line."""

    process: "subprocess.Popen[str]"
    output: str

    @property
    def key(self) -> str:
        """The key that it printed."""
        return self.output.split("KEY=")[1].split()[0]

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of the curl lines that it printed."""
        lines = (line.strip().replace("$KEY", self.key) for line in self.output.splitlines())
        return [shlex.split(line) for line in lines if line.startswith("curl ")]

    def children(self, name: str) -> list[psutil.Process]:
        """Return the running children of `up` with this program or module."""
        found = []
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.Error):
                words = child.cmdline()
                if words and (name in words or Path(words[0]).name == name):
                    found.append(child)
        return found

    def busy_seconds(self) -> float:
        """Return the CPU time of it and its children, which does not depend on other load of the machine."""
        own = psutil.Process(self.process.pid)
        times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
        return sum(time.user + time.system for time in times)

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit status and the rest of the output."""
        self.process.send_signal(number)
        rest = self.process.communicate()[0]
        return self.process.returncode, rest


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def running_up(home: Path, *arguments: str, port: int | None = None, **settings: str) -> Iterator[Up]:
    """Run `up` in this block, from its last line of output on."""
    options = ("--port", str(port or free_port()), *arguments)
    own = Settings(wallet_api_home=str(home), web_concurrency=2, web_threads=2, **settings)
    with wallet_api("up", *options, settings=own) as process:
        assert process.stdout is not None
        output = ""
        for line in process.stdout:
            output += line
            if _LAST_LINE in line:
                break
        print(output)
        try:
            yield Up(process, output)
        finally:
            # Not read to the end: after a kill its children still hold the other end.
            if process.poll() is None:
                process.terminate()
            process.wait()
