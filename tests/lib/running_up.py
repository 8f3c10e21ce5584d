"""A running `wallet-api up`."""

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.lib.network import free_port
from tests.lib.processes import Process, is_alive, processes_of, wallet_api
from tests.lib.settings import changed
from wallet_api.settings import Settings

LAST_LINE = "Ctrl-C stops everything."


@dataclass
class Up:
    """A running `up`, what it has printed up to its last line, and its address."""

    process: Process[str]
    output: str
    url: str

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
        seconds = 0.0
        for process in (own, *own.children(recursive=True)):
            # PostgreSQL's helpers come and go.
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds += times.user + times.system
        return seconds

    def end(self, home: Path, number: signal.Signals = signal.SIGTERM) -> str:
        """Send a signal, after which it must end in order; return the rest of the output."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        rest = self.process.communicate()[0]
        assert (self.process.returncode, rest.splitlines()[-1]) == (0, "Stopped.")
        assert not [process for process in family if is_alive(process)]
        assert processes_of(home) == []
        return rest


@contextmanager
def running_up(
    home: Path,
    *arguments: str,
    port: int | None = None,
    number: signal.Signals = signal.SIGTERM,
    **settings: str,
) -> Iterator[Up]:
    """Run `up` in this block, from its last line of output on; then end it by a signal, in order."""
    port = port or free_port()
    own = changed(Settings(), wallet_api_home=str(home), web_concurrency=2, web_threads=2, **settings)
    with wallet_api("up", "--port", str(port), *arguments, settings=own) as process:
        assert process.stdout is not None
        output = ""
        for line in process.stdout:
            output += line
            if LAST_LINE in line:
                break
        print(output)
        up = Up(process, output, f"http://127.0.0.1:{port}")
        yield up
        if process.poll() is None:
            up.end(home, number)
