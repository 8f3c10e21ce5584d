"""Which user the embedded servers run as: ourselves, or, for root, a user without rights.

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
    """A user to run servers as; None in place of one means ourselves."""

    name: str
    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """What makes subprocess run a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def choose(folder: Path) -> Account | None:
    """Who is to run the servers of `folder`: ourselves, unless we are root.

    For root it is the owner of the folder, or of the nearest one above it that exists: under `sudo`
    in one's own checkout, that user has the way there open already. Where that is root too, it is
    a system user, made if need be. Raises EmbeddedError when it cannot be made.
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
    """Make `folder` if it is missing, private to the account, and its own down to the last file."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if account is None or folder.stat().st_uid == account.uid:
        return
    for path in (*folder.rglob("*"), folder):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def let_reach(path: Path, account: Account | None) -> None:
    """Let the account pass through the folders above `path`, without letting it list them."""
    if account is None:
        return
    for folder in reversed(path.parents):
        if not _permits(folder, account, stat.S_IXUSR):
            # Typically /root, which is closed to everyone else.
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
            log.warning(
                "Opened %s for passing through (o+x), so that user %s reaches %s.", folder, account.name, path
            )


def let_use(programs: Path, account: Account | None) -> None:
    """Let the account read and run what is below `programs`, even if installed with a strict umask."""
    if account is None:
        return
    let_reach(programs, account)
    for path in (programs, *programs.rglob("*")):
        needed = stat.S_IRUSR | (path.stat().st_mode & stat.S_IXUSR)
        if not _permits(path, account, needed):
            path.chmod(path.stat().st_mode | needed >> 6)


def _permits(path: Path, account: Account, bits: int) -> bool:
    # `bits` are the owner's; those of the group and of the others lie three and six places lower.
    status = path.stat()
    shift = 0 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 6
    return status.st_mode & (bits >> shift) == bits >> shift


def _system_user() -> pwd.struct_passwd:
    makers = (
        ("useradd", "--system", "--no-create-home", "--user-group", "--shell", "/bin/false", SYSTEM_USER),
        ("adduser", "-S", "-D", "-H", "-s", "/bin/false", SYSTEM_USER),
    )
    for maker in makers:
        # Looked up anew after each try: another command may have made the user meanwhile.
        if SYSTEM_USER not in {user.pw_name for user in pwd.getpwall()} and shutil.which(maker[0]):
            subprocess.run(maker, check=False, capture_output=True)
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError as error:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} could not be made. "
            "Run this command as an ordinary user, or set DATABASE_URL to a server of your own."
        ) from error
