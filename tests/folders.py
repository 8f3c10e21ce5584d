"""Folders for the servers of tests."""

import os
import shutil
import tempfile

# What the databases of all processes of a run take, several times over.
_MEMORY_BYTES = 4 * 1024**3


def server_folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a temporary folder for servers, which create databases much faster in memory, if it has room.

    It is not below pytest's folder, which is closed to the user that root's servers run as.
    """
    return tempfile.TemporaryDirectory(prefix="wallet-api-tests-", dir=_memory())


def _memory() -> str | None:
    folder = "/dev/shm"
    try:
        is_large = shutil.disk_usage(folder).free > _MEMORY_BYTES
    except OSError:
        return None
    return folder if is_large and os.access(folder, os.W_OK) else None
