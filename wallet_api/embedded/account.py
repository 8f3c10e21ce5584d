"""The user that runs the embedded servers: the current one, or for root an unprivileged one.

PostgreSQL refuses to run as root: https://www.postgresql.org/docs/current/postgres-user.html
"""

import logging
import os
import pwd
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallet_api.embedded.errors import EmbeddedError

SYSTEM_USER = "_postgres" if sys.platform == "darwin" else "wallet-api-db"

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


def own(folder: Path, account: Account | None) -> None:
    """Create `folder` if missing, private to the account, and give it all files below."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if account is None or folder.stat().st_uid == account.uid:
        return
    for path in (*folder.rglob("*"), folder):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def let_reach(path: Path, account: Account | None) -> None:
    """Allow the account to traverse the folders above `path`, but not to list them."""
    if account is None:
        return
    for folder in reversed(path.parents):
        if not _permits(folder, account, stat.S_IXUSR):
            # Typically /root.
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
            log.warning(
                "Made %s traversable (o+x), so that user %s can reach %s.", folder, account.name, path
            )


def let_use(programs: Path, account: Account | None) -> None:
    """Allow the account to read and run the files below `programs`, even after a strict umask."""
    if account is None:
        return
    let_reach(programs, account)
    for path in (programs, *programs.rglob("*")):
        needed = stat.S_IRUSR | (path.stat().st_mode & stat.S_IXUSR)
        if not _permits(path, account, needed):
            path.chmod(path.stat().st_mode | needed >> 6)


def _permits(path: Path, account: Account, bits: int) -> bool:
    # `bits` are those of the owner; group and others are three and six bits lower.
    status = path.stat()
    shift = 0 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 6
    return status.st_mode & (bits >> shift) == bits >> shift


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
