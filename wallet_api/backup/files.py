"""A file that gets its name only when it is complete."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wallet_api.backup.errors import BackupError


@contextmanager
def written_whole(file: Path, *, overwrite: bool) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield FILE.part, private to its owner and open; on exit, sync it to disk and rename it to FILE.

    The open file holds a lock, as does every process that inherits it. On an exception FILE.part is removed.
    Raises BackupError.
    """
    _check_place(file, overwrite=overwrite)
    part = file.with_name(f"{file.name}.part")
    with _locked(part) as output:
        try:
            yield part, output
            os.fsync(output.fileno())
            _check_place(file, overwrite=overwrite)
            part.rename(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(file.parent)


def _check_place(file: Path, *, overwrite: bool) -> None:
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        if not file.parent.is_dir():
            raise BackupError(f"The folder {file.parent} does not exist. Create it first.") from None
        return
    if not stat.S_ISREG(mode):
        raise BackupError(f"{file} is not a regular file. Choose another name.")
    if not overwrite:
        raise BackupError(f"{file} exists already. Choose another name, or replace it with --force.")


@contextmanager
def _locked(part: Path) -> Iterator[IO[bytes]]:
    """Yield the empty, locked file `part`; one of a killed backup is used again."""
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as output:
        try:
            fcntl.flock(output, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(
                f"Another backup is writing {part}. Wait for it, or choose another name."
            ) from None
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or not _is_at(part, status):
            raise BackupError(f"{part} is not a file of this user. Remove it, and try again.")
        os.fchmod(descriptor, 0o600)
        os.ftruncate(descriptor, 0)
        yield output


def _is_at(part: Path, status: os.stat_result) -> bool:
    # Another backup may have renamed or removed it before it was locked.
    try:
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, part.lstat())
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
