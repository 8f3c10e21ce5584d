"""The user that runs the embedded servers: the current one, or for root an unprivileged one.

PostgreSQL refuses to run as root: https://www.postgresql.org/docs/current/postgres-user.html
Root's files that this user cannot reach have a place below STATE; no mode of a folder above them changes.
"""

import hashlib
import logging
import os
import pwd
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallet_api.embedded.errors import EmbeddedError

SYSTEM_USER = "_postgres" if sys.platform == "darwin" else "wallet-api-db"
STATE = Path("/var/lib/wallet-api")
_FOLDERS = ("postgres", "valkey", "run")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Account:
    """A user to run servers as. None stands for the current user."""

    name: str
    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Return the options with which subprocess runs a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def reaches(self, path: Path) -> bool:
        """Return whether this user may traverse the folders above `path`."""
        return all(self._permits(folder, stat.S_IXUSR) for folder in path.parents)

    def may_run(self, program: Path) -> bool:
        """Return whether this user may run `program`."""
        return self.reaches(program) and self._permits(program, stat.S_IRUSR | stat.S_IXUSR)

    def _permits(self, path: Path, bits: int) -> bool:
        # `bits` are those of the owner; group and others are three and six bits lower.
        status = path.stat()
        shift = 0 if status.st_uid == self.uid else 3 if status.st_gid == self.gid else 6
        return status.st_mode & (bits >> shift) == bits >> shift


def choose(folder: Path) -> Account | None:
    """Return the user to run the servers of `folder` as: None, unless this process runs as root.

    For root it is the owner of the folder or of its nearest existing parent: under `sudo` in a user's own
    checkout, that user can already reach it. If the owner is root too, it is a system user, created if
    missing. Raises EmbeddedError if that fails.
    """
    if os.geteuid() != 0:
        return None
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        owner = pwd.getpwuid(existing.stat().st_uid)
    except KeyError:
        owner = None
    if owner is None or owner.pw_uid == 0:
        owner = _system_user()
    return Account(owner.pw_name, owner.pw_uid, owner.pw_gid)


def place_of(home: Path, account: Account | None) -> Path:
    """Return the folder that contains the servers' folders: `home`, or one below STATE.

    The latter is linked from `home`, so that later commands use it too. Raises EmbeddedError.
    """
    links = [home / name for name in _FOLDERS]
    if links[0].is_symlink():
        return links[0].readlink().parent
    if account is None or account.reaches(home / "postgres"):
        return home
    place = STATE / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    if links[0].exists():
        raise EmbeddedError(
            f"User {account.name}, who runs the servers of root, cannot reach {links[0]}. Move {home} to a "
            "folder that this user can reach, and set WALLET_API_HOME to it."
        )
    place.mkdir(mode=0o711, parents=True, exist_ok=True)
    for link in links:
        # Another command may do the same.
        with suppress(FileExistsError):
            link.symlink_to(place / link.name)
    log.warning("User %s cannot reach %s: the servers' data is in %s.", account.name, home, place)
    return place


def own(folder: Path, account: Account | None) -> None:
    """Create `folder` if missing, private to the account, and give it all files below."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if account is None or folder.stat().st_uid == account.uid:
        return
    for path in (*folder.rglob("*"), folder):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def runnable(folder: Path, program: str, account: Account | None) -> Path:
    """Return the path of `program` in `folder`, or in a copy of it below STATE that the account can reach."""
    if account is None or account.may_run(folder / program):
        return folder / program
    with (folder / program).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    copy = STATE / "programs" / digest
    if not copy.exists():
        # Copied under another name and renamed when complete, so that an interrupted try has no effect.
        draft = copy.with_name(f"{digest}.{os.getpid()}")
        copy.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        shutil.copytree(folder, draft, symlinks=True)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
        try:
            draft.rename(copy)
        except OSError:
            # Another command was faster.
            shutil.rmtree(draft)
    return copy / program


def _system_user() -> pwd.struct_passwd:
    makers = (
        ("useradd", "--system", "--no-create-home", "--user-group", "--shell", "/bin/false", SYSTEM_USER),
        ("adduser", "-S", "-D", "-H", "-s", "/bin/false", SYSTEM_USER),
    )
    for maker in makers:
        # Checked before each try, since another command may have created the user meanwhile.
        if SYSTEM_USER not in {user.pw_name for user in pwd.getpwall()} and shutil.which(maker[0]):
            subprocess.run(maker, check=False, capture_output=True)
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError as error:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} could not be created. "
            "Run this command as an ordinary user, or set DATABASE_URL to a server of your own."
        ) from error
