"""Find, start and stop one server of the home folder, also if another command has started it."""

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
# After a crash, PostgreSQL may replay gigabytes of its log before it accepts connections.
START_SECONDS = 300.0
STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05
# Servers do not inherit this process's environment, which contains passwords and keys.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Server:
    """One server in one folder. The caller locks it before start() and stop()."""

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
        """Return the running processes of this server, found by their program and working folder.

        A pid file is not reliable: after a crash another program may have that process id.
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
        """Start the server unless it runs, and wait until it is ready. Raises EmbeddedError."""
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
                raise self._failure("exited during its start", log_start)
            elif time.monotonic() > deadline:
                raise self._failure(f"was not ready after {START_SECONDS:.0f} seconds", log_start)
            time.sleep(_POLL_SECONDS)
        if process:
            # It may outlive this command, so Popen must not warn that nobody has waited for it.
            process.returncode = 0

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop the server gracefully; kill it after `seconds`."""
        processes = self.processes()
        pids = {process.pid for process in processes}
        for process in processes:
            with suppress(psutil.Error):
                if process.ppid() not in pids:
                    process.send_signal(self.stop_signal)
        psutil.wait_procs(processes, timeout=seconds)
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
                # In a session of its own, it does not receive the Ctrl-C of the terminal.
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
    """Move the contents of a log to `.1` when it exceeds LOG_LIMIT_BYTES.

    The server keeps the file open for appending, so truncating it in place is safe.
    """
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
