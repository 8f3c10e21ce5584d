"""Processes for tests: gunicorn on a free port, and commands."""

import io
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, AnyStr

import psutil
import valkey
from click.testing import CliRunner, Result

from tests.lib.settings import environment
from tests.lib.waiting import eventually, repeated
from wallet_api.operate import embedded
from wallet_api.operate.cli import cli
from wallet_api.operate.embedded import valkey as embedded_valkey
from wallet_api.operate.embedded.place import place_of
from wallet_api.operate.embedded.signals import deferred
from wallet_api.settings import Settings

# So long a process may take to end when a test waits for it.
END_SECONDS = 90.0


class Process(subprocess.Popen[AnyStr]):
    """A process that fails the test, and is killed with its children, if it does not end when waited for."""

    def wait(self, timeout: float | None = None) -> int:
        with self._ending():
            return super().wait(END_SECONDS if timeout is None else timeout)

    def communicate(self, *arguments: Any, timeout: float | None = None) -> tuple[AnyStr, AnyStr]:
        with self._ending():
            return super().communicate(*arguments, timeout=END_SECONDS if timeout is None else timeout)

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None:
            self.terminate()
        # Before its pipes are closed, which would wait for a thread that reads from one.
        try:
            self.wait()
        finally:
            super().__exit__(*error)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except subprocess.TimeoutExpired:
            family = [psutil.Process(self.pid)]
            # What is suspended starts no other process, which would hold the pipes open.
            for each in family:
                with suppress(psutil.NoSuchProcess):
                    each.suspend()
                    family += each.children()
            kill(family)
            super().wait()
            raise


def run_program(
    command: Sequence[str | Path],
    *,
    check: bool = False,
    capture_output: bool = False,
    input: Any = None,
    timeout: float | None = None,
    **options: Any,
) -> "subprocess.CompletedProcess[Any]":
    """Run a program to its end, as subprocess.run does.

    If it does not end in time, its children are killed too: those that hold a pipe would be waited for.
    """
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    process: Process[Any]
    with Process(command, **options) as process:
        output, errors = process.communicate(input, timeout=timeout)
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


@dataclass(frozen=True)
class Gunicorn:
    """A running gunicorn: its URL without a trailing slash, its process, and its log."""

    url: str
    process: Process[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        """The standard output and standard error so far."""
        return self.log_file.read_text()

    def stop(self) -> int:
        """Stop it with SIGTERM and return its exit status."""
        if self.process.poll() is not None:
            return self.process.returncode
        master = psutil.Process(self.process.pid)
        family = [master, *master.children(recursive=True)]
        self.process.terminate()
        try:
            return self.process.wait(timeout=60)
        finally:
            for process in family:
                with suppress(psutil.NoSuchProcess):
                    process.kill()


StartGunicorn = Callable[..., Gunicorn]


def start_gunicorn(settings: Settings, log_file: Path, *, workers: int, threads: int) -> Gunicorn:
    """Start gunicorn with these settings. Requests wait until its workers run."""
    with socket.socket() as listener, log_file.open("wb") as log:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        process: Process[bytes] = Process(
            [
                *(sys.executable, "-m", "gunicorn", "--config", "python:wallet_api.serving.settings"),
                *("--bind", f"fd://{listener.fileno()}", "wallet_api.app:create_app()"),
            ],
            env=environment_of(replace(settings, web_concurrency=workers, web_threads=threads)),
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        return Gunicorn(f"http://127.0.0.1:{listener.getsockname()[1]}", process, log_file)


def environment_of(settings: Settings) -> dict[str, str]:
    """Return an environment with these settings and without HTTP access to the network."""
    own = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
    # The audit hook does not reach other processes, so their requests go to a closed port.
    own |= {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    return own | {"NO_PROXY": "127.0.0.1,localhost"} | environment(settings)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return the running processes with this working folder or with it in their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd", "name", "status"]):
        info = process.info
        command_line = " ".join(info["cmdline"] or ())
        is_here = (info["cwd"] or "").startswith(str(folder)) or str(folder) in command_line
        if is_here and process.pid != os.getpid() and info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


@contextmanager
def running_valkey(home: Path) -> Iterator[str]:
    """Run the embedded Valkey of `home` in this block unless it runs, and yield its URL."""
    place = place_of(embedded.home_folder(Settings(wallet_api_home=str(home))))
    url = embedded_valkey.socket_url(place)
    with valkey.Valkey.from_url(url.replace("valkey+unix", "unix")) as client, ExitStack() as stack:
        if not _responds(client):
            command, user = embedded_valkey.command(place), place.account.popen_options()
            # A signal meanwhile would leave it running.
            with deferred():
                process = stack.enter_context(Process(command, stdout=subprocess.DEVNULL, **user))
                stack.callback(process.kill)
            while not _responds(client):
                time.sleep(0.02)
        yield url


def _responds(client: valkey.Valkey) -> bool:
    with suppress(valkey.ConnectionError):
        return bool(client.ping())
    return False


def kill_all(folder: Path) -> None:
    """Kill the processes of a server by its folder, which must have some."""
    kill(processes_of(folder))


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill the processes of a server, at least one, and wait until they have ended."""
    assert processes
    for process in processes:
        # A backend may end by itself meanwhile.
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    eventually(lambda: not any(map(is_alive, processes)))


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process runs, and is not only known to its parent."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def wallet_api(*arguments: str, settings: Settings | None = None, **options: Any) -> Process[str]:
    """Start a command as a process, with these settings or an `env`. stdout includes its errors."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | options
    options["env"] = (options.get("env") or environment_of(settings or Settings())) | {
        "PYTHONUNBUFFERED": "1"
    }
    return Process([sys.executable, "-m", "wallet_api", *arguments], text=True, **options)


def run_command(
    *arguments: str | Path,
    settings: Settings | None = None,
    env: dict[str, str] | None = None,
    input: str | None = None,
) -> Result:
    """Run a command in this process, with these settings or an `env`, and this standard input."""
    own = env or dict.fromkeys(Settings.variables()) | environment_of(settings or Settings())
    # As that of a process, which can be looked into.
    standard_input = None if input is None else io.BufferedReader(io.BytesIO(input.encode()))
    return CliRunner().invoke(cli, [str(part) for part in arguments], env=own, input=standard_input)


def workers(server: Gunicorn) -> list[psutil.Process]:
    """Return the running workers."""
    return psutil.Process(server.process.pid).children()


def reload(server: Gunicorn) -> None:
    """Send SIGHUP, and wait until all old workers have exited."""
    old = workers(server)
    server.process.send_signal(signal.SIGHUP)
    _, left = psutil.wait_procs(old, timeout=60)
    assert not left, f"old workers still run: {left}\n{server.log}"


@contextmanager
def peak_of(process: psutil.Process) -> Iterator[list[int]]:
    """Yield a list whose only item becomes the process's largest resident memory in this block, in bytes."""
    peak = [0]

    def look() -> None:
        # It may end in this block.
        with suppress(psutil.NoSuchProcess):
            peak[0] = max(peak[0], process.memory_info().rss)

    with repeated(look, 0.01):
        yield peak
