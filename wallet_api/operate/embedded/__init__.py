"""PostgreSQL and Valkey below WALLET_API_HOME, for installations without servers of their own.

PostgreSQL is shared by all commands of a home; Valkey belongs to its `wallet-api up`.
"""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from wallet_api.operate.embedded import postgres
from wallet_api.operate.embedded.place import EmbeddedError, place_of
from wallet_api.operate.embedded.server import STOP_SECONDS, Server
from wallet_api.operate.embedded.signals import undisturbed
from wallet_api.settings import Settings

LOG_LIMIT_BYTES = 8 * 1024 * 1024


@contextmanager
def running(settings: Settings) -> Iterator[Settings]:
    """Yield the settings, with the URL of the embedded PostgreSQL if `database_url` is unset.

    Raises EmbeddedError.
    """
    if settings.database_url is not None:
        yield settings
        return
    with running_in(home_folder(settings)) as server:
        yield replace(settings, database_url=server.url)


@contextmanager
def running_in(home: Path, *, stop_seconds: float = STOP_SECONDS) -> Iterator[Server]:
    """Yield the PostgreSQL of `home`, which runs while any command is in this block. Raises EmbeddedError.

    Each command holds a shared lock. A command that can make it exclusive on exit is the last one and stops
    the server. The kernel releases the locks of a killed command.
    """
    with ExitStack() as stack:
        with explained(home):
            users = stack.enter_context((home / "lock" / "postgres.users").open("w"))
            with locked_home(home):
                server = postgres.prepare_server(place_of(home))
                fcntl.flock(users, fcntl.LOCK_SH)
                stack.callback(_leave, server, home, users, stop_seconds)
                server.start()
        yield server


@contextmanager
def locked_home(home: Path) -> Iterator[None]:
    """Let no other command start or stop the server of `home` in this block."""
    with (home / "lock" / "postgres.change").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def home_of(settings: Settings) -> Path:
    """Return the folder of WALLET_API_HOME, which may not exist yet."""
    return Path(settings.wallet_api_home).expanduser().resolve()


def home_folder(settings: Settings) -> Path:
    """Return the folder of WALLET_API_HOME, created if missing. Raises EmbeddedError if it is not usable."""
    home = home_of(settings)
    with explained(home):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0 == home.stat().st_uid:
            # The servers of root run as another user, who needs to traverse the folder.
            home.chmod(home.stat().st_mode | stat.S_IXOTH)
        for name in ("lock", "log"):
            (home / name).mkdir(mode=0o700, exist_ok=True)
        trim_logs(home)
    return home


def trim_logs(home: Path) -> None:
    """Move the contents of each log to `.1` when it exceeds LOG_LIMIT_BYTES; drop them if the disk is full.

    A server keeps its file open for appending, so truncating it in place is safe.
    """
    for log in (home / "log").glob("*.log"):
        if log.stat().st_size > LOG_LIMIT_BYTES:
            earlier = log.with_name(f"{log.name}.1")
            try:
                shutil.copyfile(log, earlier)
            except OSError:
                earlier.unlink(missing_ok=True)
            os.truncate(log, 0)


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Translate an OSError about files of `home` into an EmbeddedError."""
    try:
        yield
    except OSError as error:
        raise EmbeddedError(
            f"{error.filename or home} cannot be used by user {os.geteuid()}: {error.strerror}. "
            "Choose another folder with WALLET_API_HOME, or set DATABASE_URL and VALKEY_URL to servers."
        ) from error


def _leave(server: Server, home: Path, users: IO[str], stop_seconds: float) -> None:
    with undisturbed(), locked_home(home), suppress(BlockingIOError):
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        server.stop(stop_seconds)
