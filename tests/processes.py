"""Real gunicorns for tests: started on a free port, asked over HTTP, stopped as an operator would."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import psutil

from wallet_api.settings import Settings


@dataclass(frozen=True)
class Gunicorn:
    """A running gunicorn: its address without a slash at the end, its process, and what it wrote so far."""

    url: str
    process: "subprocess.Popen[bytes]"
    log_file: Path

    @property
    def log(self) -> str:
        """All of standard output and standard error up to now."""
        return self.log_file.read_text()

    def stop(self) -> int:
        """Stop it in order, as SIGTERM does; its exit status."""
        if self.process.poll() is not None:
            return self.process.returncode
        master = psutil.Process(self.process.pid)
        family = [master, *master.children(recursive=True)]
        self.process.terminate()
        try:
            return self.process.wait(timeout=30)
        finally:
            for process in family:
                if process.is_running():
                    process.kill()


StartGunicorn = Callable[..., Gunicorn]


def start_gunicorn(settings: Settings, log_file: Path, *, workers: int, threads: int) -> Gunicorn:
    """A gunicorn serving the application with these settings; calls queue up until its workers are there."""
    with socket.socket() as listener, log_file.open("wb") as log:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        process = subprocess.Popen(
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
    """The environment variables that give a process these settings, and no way to the network over HTTP."""
    environment = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
    # A process of its own is beyond the audit hook; what it would fetch outside fails at a closed port.
    environment |= {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    environment |= {"NO_PROXY": "127.0.0.1,localhost"}
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if value != setting.default:
            environment[setting.metadata["variable"]] = str(value)
    return environment


def processes_of(folder: Path) -> list[psutil.Process]:
    """All living processes that work in this folder, or name it in their command line, with their `info`."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd", "name", "status"]):
        told = process.info
        at_work = (told["cwd"] or "").startswith(str(folder)) or str(folder) in " ".join(
            told["cmdline"] or ()
        )
        if at_work and process.pid != os.getpid() and told["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def wallet_api(*arguments: str, settings: Settings, **options: Any) -> "subprocess.Popen[str]":
    """The command line, started with these settings; stdout gives what it says, errors included."""
    return subprocess.Popen(
        [sys.executable, "-m", "wallet_api", *arguments],
        env=environment_of(settings) | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def signalled(number: signal.Signals, word: str = "") -> str:
    """Code before a command's own: the signal comes while the first process with `word` is being started."""
    return f"""
import os, subprocess
begin = subprocess.Popen._execute_child
def execute(self, command, *others):
    begin(self, command, *others)
    if any({word!r} in part for part in command):
        subprocess.Popen._execute_child = begin
        os.kill(os.getpid(), {number.value})
subprocess.Popen._execute_child = execute
"""
