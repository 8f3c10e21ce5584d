"""A real PostgreSQL and a real Valkey below WALLET_API_HOME, for whoever has set up neither."""

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import IO

from wallet_api.embedded import postgres as postgres_server
from wallet_api.embedded import valkey as valkey_server
from wallet_api.embedded.account import Account, choose, let_reach, own
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.server import Server, trim
from wallet_api.embedded.signals import undisturbed
from wallet_api.settings import Settings

__all__ = ["EmbeddedError", "explained", "home_folder", "home_of", "running", "trim_logs"]

# The room in a socket's address: 104 bytes on macOS, 108 on Linux, with a NUL at the end.
_SOCKET_PATH_BYTES = 103
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
_LONGEST_SOCKET_NAME = ".s.PGSQL.5432"


@contextmanager
def running(settings: Settings, *, valkey: bool) -> Iterator[Settings]:
    """The settings with the address of an embedded server in place of each that is unset.

    PostgreSQL is started if it does not run yet, and with `valkey` Valkey too. Any number of
    commands may use them at once; the last one to leave stops them. Raises EmbeddedError.
    """
    with ExitStack() as stack:
        if settings.database_url is None:
            settings = replace(settings, database_url=stack.enter_context(_used(postgres_server, settings)))
        if valkey and settings.valkey_url is None:
            settings = replace(settings, valkey_url=stack.enter_context(_used(valkey_server, settings)))
        yield settings


def home_of(settings: Settings) -> Path:
    """Return the folder of WALLET_API_HOME, which may not exist yet."""
    return Path(settings.wallet_api_home).expanduser().resolve()


def home_folder(settings: Settings) -> Path:
    """The folder of WALLET_API_HOME, made if it is missing. Raises EmbeddedError when it cannot be used."""
    home = home_of(settings)
    with explained(home):
        # Root's servers run as another user, who has to pass through.
        home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        for name in ("lock", "log"):
            (home / name).mkdir(mode=0o700, exist_ok=True)
    return home


def trim_logs(settings: Settings) -> None:
    """Keep the logs of the embedded servers within bounds."""
    for log in (home_folder(settings) / "log").glob("*.log"):
        trim(log)


@contextmanager
def _used(kind: ModuleType, settings: Settings) -> Iterator[str]:
    """The address of a server that runs as long as anyone is in here.

    Every user holds a shared lock, and whoever can make it exclusive on leaving is the last. The
    kernel takes back the locks of a killed command, so whoever comes next finds the truth.
    """
    home = home_folder(settings)
    with ExitStack() as stack:
        with explained(home):
            name = kind.__name__.rpartition(".")[2]
            change = stack.enter_context((home / "lock" / f"{name}.change").open("w"))
            users = stack.enter_context((home / "lock" / f"{name}.users").open("w"))
            fcntl.flock(change, fcntl.LOCK_EX)
            account = choose(home / "postgres")
            sockets = _socket_folder(home, account)
            server: Server = kind.prepare(home, sockets, account)
            stack.callback(_leave, server, change, users)
            fcntl.flock(users, fcntl.LOCK_SH)
            server.start()
            fcntl.flock(change, fcntl.LOCK_UN)
        yield kind.url(sockets)


def _leave(server: Server, change: IO[str], users: IO[str]) -> None:
    with undisturbed():
        fcntl.flock(change, fcntl.LOCK_EX)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        server.stop()


def _socket_folder(home: Path, account: Account | None) -> Path:
    folder = home / "run"
    fits = len(os.fsencode(folder / _LONGEST_SOCKET_NAME)) <= _SOCKET_PATH_BYTES
    # libpq takes a comma for the end of a host; other rare characters are as well kept out of addresses.
    if not fits or _PLAIN_PATH.fullmatch(str(folder)) is None:
        # Not $TMPDIR: every command has to arrive at the same place.
        digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        folder = Path("/tmp") / f"wallet-api-{digest}"  # noqa: S108
        _check_not_foreign(folder, account)
    own(folder, account)
    let_reach(folder, account)
    return folder


def _check_not_foreign(folder: Path, account: Account | None) -> None:
    """Everybody may write beside this folder, so somebody may have been there first."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    owner = account.uid if account else os.geteuid()
    foreign = status.st_uid not in (owner, os.geteuid()) or stat.S_IMODE(status.st_mode) & 0o077
    if foreign or not stat.S_ISDIR(status.st_mode):
        raise EmbeddedError(f"{folder} has to be a private folder of user {owner}. Remove it, and try again.")


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Turn an OSError about files of `home` into an EmbeddedError that says what to do."""
    try:
        yield
    except OSError as error:
        raise EmbeddedError(
            f"{error.filename or home} cannot be used by user {os.geteuid()}: {error.strerror}. "
            "Choose another folder with WALLET_API_HOME, or set DATABASE_URL and VALKEY_URL to servers."
        ) from error
