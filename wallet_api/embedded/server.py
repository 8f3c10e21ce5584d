"""One server process below the home folder: found, started and stopped, whoever started it before."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from wallet_api.embedded.account import Account
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.signals import deferred

LOG_LIMIT_BYTES = 8 * 1024 * 1024
# A crash may leave gigabytes of log to replay before the first connection is taken.
START_SECONDS = 300.0
STOP_SECONDS = 60.0
_LOOK_AGAIN_SECONDS = 0.05
# Servers get no more of our environment than this: it holds passwords and keys.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Server:
    """How one kind of server is run in one folder; its users take care that one at a time changes it."""

    title: str
    folder: Path
    log: Path
    account: Account | None
    command: tuple[str, ...]
    stop_signal: signal.Signals
    is_running: Callable[["Server"], bool]
    is_ready: Callable[[], bool]
    tidy: Callable[[], None]

    def processes(self) -> list[psutil.Process]:
        """All processes of this server that live now, known by their program and the folder they work in.

        A pid file would not do: after a crash its number may belong to any other program.
        """
        program = Path(self.command[0]).name
        found = []
        for process in psutil.process_iter(["name"]):
            if process.info["name"] == program:
                with suppress(psutil.Error):
                    folder = process.cwd().removesuffix(" (deleted)")
                    if folder == str(self.folder) or str(self.folder) in process.cmdline():
                        found.append(process)
        return found

    def start(self) -> None:
        """Have the server running and ready; does nothing when it is. Raises EmbeddedError."""
        process = None
        log_start = 0
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process is None and not self.is_running(self):
                self._kill_leftovers()
                self.tidy()
                trim(self.log)
                log_start = self.log.stat().st_size if self.log.exists() else 0
                process = self._spawn()
            elif self.is_ready():
                break
            elif process is not None and process.poll() is not None:
                raise self._failure("stopped while starting", log_start)
            elif time.monotonic() > deadline:
                raise self._failure(f"was not ready after {START_SECONDS:.0f} seconds", log_start)
            time.sleep(_LOOK_AGAIN_SECONDS)
        if process:
            # It may outlive us, when another command uses it too; nobody will wait for this child.
            process.returncode = 0

    def stop(self) -> None:
        """Stop the server in order; by force when it does not obey in time."""
        processes = self.processes()
        pids = {process.pid for process in processes}
        for process in processes:
            with suppress(psutil.Error):
                if process.ppid() not in pids:
                    process.send_signal(self.stop_signal)
        psutil.wait_procs(processes, timeout=STOP_SECONDS)
        self._kill_leftovers()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log, deferred():
            return subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in the terminal is for us; we stop the servers after the work that needs them.
                start_new_session=True,
                umask=0o077,
                **(self.account.popen_options() if self.account else {}),
            )

    def _kill_leftovers(self) -> None:
        leftovers = self.processes()
        for process in leftovers:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(leftovers, timeout=STOP_SECONDS)

    def _failure(self, what: str, log_start: int) -> EmbeddedError:
        with self.log.open("rb") as log:
            log.seek(log_start)
            lines = log.read(LOG_LIMIT_BYTES).decode(errors="replace").splitlines()
        return EmbeddedError(
            "\n".join((f"{self.title} {what}. Its log, {self.log}, ends with:", *lines[-8:]))
        )


def trim(log: Path) -> None:
    """Keep a log file that its server holds open within bounds: the older part goes to `.1`.

    Emptying it in place is safe, since the server appends.
    """
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
