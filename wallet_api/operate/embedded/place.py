"""Where the embedded servers have their files, and the user that runs them.

PostgreSQL refuses to run as root: https://www.postgresql.org/docs/current/postgres-user.html
The servers of root run as an unprivileged user. What this user cannot reach is below STATE; no mode of a
folder above the home changes.
"""

import hashlib
import logging
import os
import pwd
import re
import shutil
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallet_api.base.errors import CommandError

STATE = Path("/var/lib/wallet-api")
SYSTEM_USER = "wallet-api-db"
_USERADD = ("useradd", "--system", "--no-create-home", "--user-group", "--shell", "/bin/false")
_FOLDERS = ("postgres", "valkey", "run")
# libpq splits hosts at commas; other special characters are avoided as well. The path of a socket has at most
# 103 bytes on macOS, and 107 on Linux.
_SOCKET_FOLDER = re.compile(r"[A-Za-z0-9_./-]{1,89}")

log = logging.getLogger(__name__)


class EmbeddedError(CommandError):
    """An embedded server cannot be used; the message says why and what to do next."""


@dataclass(frozen=True)
class ServerUser:
    """The user that runs the servers."""

    name: str
    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Return the options with which subprocess runs a program as this user."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def may_enter(self, path: Path) -> bool:
        """Return whether this user may traverse the folder `path`, or execute this file."""
        if self.uid == os.geteuid():
            return True
        command = ("test", "-x", path)
        return subprocess.run(command, check=False, cwd="/", **self.popen_options()).returncode == 0


@dataclass(frozen=True)
class DataFolder:
    """The folder with the servers' folders, those of their logs and sockets, and their user."""

    folder: Path
    logs: Path
    sockets: Path
    account: ServerUser


def place_of(home: Path) -> DataFolder:
    """Return the place of the servers of `home`, an existing folder. Raises EmbeddedError."""
    account = account_of(home)
    folder = _servers_folder(home, account)
    return DataFolder(folder, home / "log", _socket_folder(folder, account), account)


def account_of(folder: Path) -> ServerUser:
    """Return the user to run the servers of `folder` as: the current one, unless this is root.

    For root it is the owner of the folder: under `sudo` in a user's own checkout, that user can reach it. If
    the owner is root too, it is a system user, created if missing. Raises EmbeddedError if that fails.
    """
    if os.geteuid() != 0:
        return ServerUser("", os.geteuid(), os.getegid())
    with suppress(KeyError):
        owner = pwd.getpwuid(folder.stat().st_uid)
        if owner.pw_uid != 0:
            return ServerUser(owner.pw_name, owner.pw_uid, owner.pw_gid)
    for _ in range(2):
        with suppress(KeyError):
            user = pwd.getpwnam(SYSTEM_USER)
            return ServerUser(user.pw_name, user.pw_uid, user.pw_gid)
        # Another command may do the same.
        with suppress(FileNotFoundError):
            subprocess.run((*_USERADD, SYSTEM_USER), check=False, capture_output=True)
    raise EmbeddedError(
        f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} could not be created. "
        "Run this command as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def give_folder(folder: Path, account: ServerUser) -> None:
    """Create `folder` if missing, private to the account, and give it all files below."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != account.uid:
        for path in (*folder.rglob("*"), folder):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)


def runnable(package: Path, program: str, account: ServerUser) -> Path:
    """Return the path of a program of a package, or of its copy below STATE that the account can reach."""
    if account.may_enter(package / program):
        return package / program
    with (package / program).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    copy = STATE / "packages" / digest
    if not copy.exists():
        # Copied under another name and renamed when complete, so that an interrupted try has no effect.
        draft = copy.with_name(f"{digest}.{os.getpid()}")
        draft.mkdir(mode=0o755, parents=True)
        # A wheel has its shared libraries beside the package.
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, draft / folder.name, symlinks=True)
        for path in (STATE, copy.parent, draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
        try:
            draft.rename(copy)
        except OSError:
            # Another command was faster.
            shutil.rmtree(draft)
    return copy / package.name / program


def _servers_folder(home: Path, account: ServerUser) -> Path:
    """Return `home`, or the folder below STATE to which it has links, for later commands."""
    links = [home / name for name in _FOLDERS]
    if links[0].is_symlink():
        return links[0].readlink().parent
    if account.may_enter(home):
        return home
    if links[0].exists():
        raise EmbeddedError(
            f"User {account.name}, who runs the servers of root, cannot reach {links[0]}. Move {home} to a "
            "folder that this user can reach, and set WALLET_API_HOME to it."
        )
    folder = STATE / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    for path in (STATE, folder):
        path.chmod(0o711)
    for link in links:
        # Another command may do the same.
        with suppress(FileExistsError):
            link.symlink_to(folder / link.name)
    log.warning("User %s cannot reach %s: the servers' data is in %s.", account.name, home, folder)
    return folder


def _socket_folder(place: Path, account: ServerUser) -> Path:
    folder = place / "run"
    if _SOCKET_FOLDER.fullmatch(str(folder)) is None:
        # Not $TMPDIR, which may differ between commands.
        folder = Path("/tmp") / f"wallet-api-{hashlib.sha256(os.fsencode(place)).hexdigest()[:16]}"  # noqa: S108
        with suppress(FileNotFoundError):
            # All users can write to its parent.
            status = folder.lstat()
            is_private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
            if not is_private or status.st_uid not in (account.uid, os.geteuid()):
                raise EmbeddedError(
                    f"{folder} must be a private folder of user {account.uid}. Remove it, and try again."
                )
    give_folder(folder, account)
    return folder
