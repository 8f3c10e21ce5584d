"""PostgreSQL and Valkey below WALLET_API_HOME, for installations without servers of their own."""

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import IO

from wallet_api.embedded import postgres as postgres_server
from wallet_api.embedded import valkey as valkey_server
from wallet_api.embedded.account import Account, choose, own, place_of
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.server import STOP_SECONDS, Server, trim
from wallet_api.embedded.signals import undisturbed
from wallet_api.settings import Settings

__all__ = [
    "EmbeddedError",
    "EmbeddedServer",
    "explained",
    "home_folder",
    "home_of",
    "running",
    "supervised",
    "trim_logs",
]

# The maximum length of a socket's path: 104 bytes on macOS, 108 on Linux, both with a NUL.
_SOCKET_PATH_BYTES = 103
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
_LONGEST_SOCKET_NAME = ".s.PGSQL.5432"


@dataclass(frozen=True)
class EmbeddedServer:
    """A server that this command uses."""

    url: str
    _server: Server
    _change: IO[str]

    @property
    def title(self) -> str:
        """The name of the program, for messages."""
        return self._server.title

    def is_running(self) -> bool:
        """Return whether the server runs."""
        return self._server.is_running(self._server)

    def restart(self) -> None:
        """Start the server again unless another command has. Raises EmbeddedError."""
        fcntl.flock(self._change, fcntl.LOCK_EX)
        try:
            self._server.start()
        finally:
            fcntl.flock(self._change, fcntl.LOCK_UN)


@contextmanager
def running(settings: Settings, *, valkey: bool) -> Iterator[Settings]:
    """Yield the settings, with the URLs of embedded servers where they are unset.

    Start PostgreSQL unless it runs, and with `valkey` also Valkey. Several commands may use them at the same
    time; the last one stops them on exit. Raises EmbeddedError.
    """
    with supervised(settings, valkey=valkey) as (own, _):
        yield own


@contextmanager
def supervised(
    settings: Settings, *, valkey: bool, stop_seconds: float = STOP_SECONDS
) -> Iterator[tuple[Settings, list[EmbeddedServer]]]:
    """Like `running`; yield also the embedded servers, so that the caller can start them again.

    A server that has not stopped `stop_seconds` after the signal is killed, which loses no data.
    """
    servers = []
    with ExitStack() as stack:
        if settings.database_url is None:
            servers.append(stack.enter_context(_used(postgres_server, settings, stop_seconds)))
            settings = replace(settings, database_url=servers[-1].url)
        if valkey and settings.valkey_url is None:
            servers.append(stack.enter_context(_used(valkey_server, settings, stop_seconds)))
            settings = replace(settings, valkey_url=servers[-1].url)
        yield settings, servers


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
    return home


def trim_logs(settings: Settings) -> None:
    """Limit the size of the servers' logs."""
    for log in (home_folder(settings) / "log").glob("*.log"):
        trim(log)


@contextmanager
def _used(kind: ModuleType, settings: Settings, stop_seconds: float) -> Iterator[EmbeddedServer]:
    """Yield a server that runs while any command is in this block.

    Each command holds a shared lock. A command that can make it exclusive on exit is the last one and stops
    the server. The kernel releases the locks of a killed command.
    """
    home = home_folder(settings)
    with ExitStack() as stack:
        with explained(home):
            name = kind.__name__.rpartition(".")[2]
            change = stack.enter_context((home / "lock" / f"{name}.change").open("w"))
            users = stack.enter_context((home / "lock" / f"{name}.users").open("w"))
            fcntl.flock(change, fcntl.LOCK_EX)
            account = choose(home / "postgres")
            place = place_of(home, account)
            sockets = _socket_folder(place, account)
            server: Server = kind.prepare(place, home / "log", sockets, account)
            stack.callback(_leave, server, change, users, stop_seconds)
            fcntl.flock(users, fcntl.LOCK_SH)
            server.start()
            fcntl.flock(change, fcntl.LOCK_UN)
        yield EmbeddedServer(kind.url(sockets), server, change)


def _leave(server: Server, change: IO[str], users: IO[str], stop_seconds: float) -> None:
    with undisturbed():
        fcntl.flock(change, fcntl.LOCK_EX)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        server.stop(stop_seconds)


def _socket_folder(place: Path, account: Account | None) -> Path:
    folder = place / "run"
    fits = len(os.fsencode(folder / _LONGEST_SOCKET_NAME)) <= _SOCKET_PATH_BYTES
    # libpq splits hosts at commas; other special characters are avoided as well.
    if not fits or _PLAIN_PATH.fullmatch(str(folder)) is None:
        # Not $TMPDIR, which may differ between commands.
        digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
        folder = Path("/tmp") / f"wallet-api-{digest}"  # noqa: S108
        _check_not_foreign(folder, account)
    own(folder, account)
    return folder


def _check_not_foreign(folder: Path, account: Account | None) -> None:
    """Raise EmbeddedError if another user has created the folder, since its parent is writable by all."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    owner = account.uid if account else os.geteuid()
    foreign = status.st_uid not in (owner, os.geteuid()) or stat.S_IMODE(status.st_mode) & 0o077
    if foreign or not stat.S_ISDIR(status.st_mode):
        raise EmbeddedError(f"{folder} must be a private folder of user {owner}. Remove it, and try again.")


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
