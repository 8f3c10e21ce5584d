"""Folders for the servers of tests."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lib.processes import run_program

# What the databases of all processes of a run take, several times over.
_MEMORY_BYTES = 4 * 1024**3


def server_folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a temporary folder for servers, which create databases much faster in memory, if it has room.

    It is not below pytest's folder, which is closed to the user that root's servers run as.
    """
    return tempfile.TemporaryDirectory(prefix="wallet-api-tests-", dir=_memory())


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """Mount a disk of this size, such as 200m, in this block, and yield its folder. Skip if that fails."""
    with tempfile.TemporaryDirectory(prefix="wallet-api-full-") as name:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "tmpfs", name]
        mounted = run_program(command, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            run_program(["umount", "--lazy", name], check=True)


def _memory() -> str | None:
    folder = "/dev/shm"
    try:
        is_large = shutil.disk_usage(folder).free > _MEMORY_BYTES
    except OSError:
        return None
    return folder if is_large and os.access(folder, os.W_OK) else None
