"""Find PostgreSQL's client programs on this machine that fit a server."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wallet_api.backup.errors import BackupError
from wallet_api.embedded import EmbeddedError
from wallet_api.embedded import postgres as embedded_postgres

_NAMES = ("pg_dump", "pg_restore", "psql")
_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True)
class Programs:
    """pg_dump, pg_restore and psql of one installation, and its major version."""

    folder: Path
    major: int
    has_tls: bool

    def path(self, name: str) -> str:
        """Return the path of a program."""
        return str(self.folder / name)


def oldest_for(server_major: int, *, tls: bool) -> Programs:
    """Return the oldest programs that can dump this server, so that most versions can read the dump.

    With `tls`, only those that support TLS. Raises BackupError.
    """
    return min(_fitting(server_major, tls=tls), key=lambda programs: programs.major)


def newest_for(server_major: int, *, tls: bool) -> Programs:
    """Return the newest programs, which can read most dumps. Raises BackupError."""
    return max(_fitting(server_major, tls=tls), key=lambda programs: programs.major)


def _fitting(server_major: int, *, tls: bool) -> list[Programs]:
    installed = list(_installed())
    fitting = [
        programs for programs in installed if programs.major >= server_major and (programs.has_tls or not tls)
    ]
    if not fitting:
        found = ", ".join(f"{programs.major} in {programs.folder}" for programs in installed) or "none"
        with_tls = " with TLS, which the embedded ones do not support," if tls else ""
        raise BackupError(
            f"pg_dump, pg_restore and psql of PostgreSQL {server_major} or newer{with_tls} are needed; "
            f"found: {found}. Install them (on Debian and Ubuntu: postgresql-client-{server_major}), "
            "or put their folder on the PATH."
        )
    return fitting


def _installed() -> Iterator[Programs]:
    seen = set()
    for folder, has_tls in _folders():
        if folder not in seen and all(os.access(folder / name, os.X_OK) for name in _NAMES):
            seen.add(folder)
            major = _major(folder)
            if major is not None:
                yield Programs(folder, major, has_tls)


def _folders() -> Iterator[tuple[Path, bool]]:
    on_path = shutil.which("pg_dump")
    # Debian's pg_dump on the PATH is a script that selects a version.
    if on_path is not None and Path(on_path).resolve().name == "pg_dump":
        yield Path(on_path).resolve().parent, True
    for folder in sorted(_DEBIAN.glob("*/bin")):
        yield folder, True
    try:
        yield embedded_postgres.programs(), False
    except EmbeddedError:
        return


def _major(folder: Path) -> int | None:
    run = subprocess.run(
        [folder / "pg_dump", "--version"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    found = _VERSION.search(run.stdout)
    return int(found[1]) if found else None
