"""Exit with a message unless a service that is installed by root can run with this interpreter."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

# ProtectHome= of the units hides them.
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


def closed_folder(path: Path) -> Path | None:
    """Return the first folder above `path` that the user of the service cannot enter."""
    for folder in reversed(path.resolve().parents):
        if folder in HOMES or not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


# Whoever is not root may run the service as the same user.
if os.geteuid() == 0:
    for file in (sys.executable, os.__file__):
        closed = closed_folder(Path(file))
        if closed is not None:
            sys.exit(
                f"{sys.executable} cannot run the service: its user cannot enter {closed}. "
                "Use the system's: make install-service PYTHON=/usr/bin/python3"
            )
