"""Find, start and stop one PostgreSQL server, also if another command has started it."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

from wallet_api.operate.embedded.place import EmbeddedError, ServerUser
from wallet_api.operate.embedded.signals import deferred

USER = "wallet_api"
# After a crash, PostgreSQL may replay gigabytes of its log before it accepts connections.
START_SECONDS = 300.0
STOP_SECONDS = 60.0
# So long it may take to end without writing everything to disk.
_QUIT_SECONDS = 1.0
_POLL_SECONDS = 0.05
# Servers do not inherit this process's environment, which contains passwords and keys.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Server:
    """A server of one folder; `host` is an address or the folder of its socket.

    The caller ensures that no other command starts or stops it meanwhile.
    """

    programs: Path
    folder: Path
    log: Path
    account: ServerUser
    host: str
    settings: Mapping[str, str]
    port: int = 5432

    @property
    def url(self) -> str:
        """The URL of the database, for libpq."""
        return f"postgresql://{USER}@/{USER}?host={quote(self.host, safe='')}"

    def processes(self) -> list[psutil.Process]:
        """Return the running processes of this server, found by their program and working folder.

        A pid file is not reliable: after a crash another program may have that process id.
        """
        found = []
        for process in psutil.process_iter(["name"]):
            if process.info["name"] == "postgres":
                with suppress(psutil.Error):
                    if process.cwd().removesuffix(" (deleted)") == str(self.folder):
                        found.append(process)
        return found

    def is_running(self) -> bool:
        """Return whether its first process runs, and not only others that a killed one has left."""
        for process in self.processes():
            with suppress(psutil.Error):
                # The others replace their command lines by what they do.
                if "-D" in process.cmdline():
                    return True
        return False

    def start(self) -> None:
        """Start the server unless it runs, and wait until it accepts connections. Raises EmbeddedError."""
        log_start = self.log.stat().st_size if self.log.exists() else 0
        if not self.is_running():
            self._clear()
            self._spawn()
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if not self.is_running():
                raise self._failure("exited during its start", log_start)
            if time.monotonic() > deadline:
                raise self._failure(f"was not ready after {START_SECONDS:.0f} seconds", log_start)
            time.sleep(_POLL_SECONDS)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop the server gracefully, or after `seconds` in any case, which loses no data."""
        # A "fast" shutdown closes connections and writes everything to disk. An "immediate" one removes only
        # the lock file and the shared memory, which a killed server leaves.
        # https://www.postgresql.org/docs/18/server-shutdown.html
        for number, patience in ((signal.SIGINT, seconds), (signal.SIGQUIT, _QUIT_SECONDS)):
            processes = self.processes()
            pids = {process.pid for process in processes}
            for process in processes:
                with suppress(psutil.Error):
                    if process.ppid() not in pids:
                        process.send_signal(number)
            psutil.wait_procs(processes, timeout=patience)
        self._kill()

    def _clear(self) -> None:
        """Remove what a killed server has left.

        Its lock files may be incomplete, or contain a process id that another program has by now.
        """
        self._kill()
        for leftover in (self.folder / "postmaster.pid", *Path(self.host).glob(".s.PGSQL.*")):
            leftover.unlink(missing_ok=True)

    def _spawn(self) -> None:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log, deferred():
            process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder, "-p", str(self.port), *options],
                cwd=self.folder,
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # In a session of its own, it does not receive the Ctrl-C of the terminal.
                start_new_session=True,
                umask=0o077,
                **self.account.popen_options(),
            )
            # It may outlive this command, so Popen must not warn that nobody has waited for it.
            process.returncode = 0

    def _is_ready(self) -> bool:
        address = (f"--host={self.host}", f"--port={self.port}", f"--username={USER}", f"--dbname={USER}")
        command = (self.programs / "pg_isready", "--quiet", "--timeout=3", *address)
        return subprocess.run(command, check=False, env=ENVIRONMENT, start_new_session=True).returncode == 0

    def _kill(self) -> None:
        processes = self.processes()
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=STOP_SECONDS)

    def _failure(self, what: str, log_start: int) -> EmbeddedError:
        with self.log.open("rb") as log:
            log.seek(log_start)
            lines = log.read().decode(errors="replace").splitlines()
        return EmbeddedError("\n".join((f"PostgreSQL {what}. Its log, {self.log}, ends with:", *lines[-8:])))
