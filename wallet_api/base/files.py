"""Files that are written whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming_errors(file: Path) -> Iterator[None]:
    """Name `file` in an OSError that names none, as that of a write to a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


@contextmanager
def written_whole(file: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a private file beside `file`; on exit, rename it, or remove it after an exception.

    Raises FileExistsError, unless `overwrite` is set and `file` is a regular file.
    """
    with part_of(file, overwrite=overwrite) as (part, keep):
        yield part
        keep()


@contextmanager
def part_of(file: Path, *, overwrite: bool) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yield a private file beside `file`, and a function that gives it its name; else it is removed on exit.

    A link in the place of `file` is replaced, and not followed. Raises FileExistsError, unless `overwrite` is
    set and `file` is a regular file.
    """
    if file.exists() and not (overwrite and file.is_file()):
        advice = "exists already. Choose another name, or replace a file with --force."
        raise FileExistsError(errno.EEXIST, advice, str(file))
    try:
        descriptor, name = tempfile.mkstemp(".part", f"{file.name}.", file.parent)
    except OSError as error:
        # The name of the temporary file says nothing to the operator.
        error.filename = str(file.parent)
        raise
    part = Path(name)

    def keep() -> None:
        with naming_errors(file):
            os.fsync(descriptor)
        part.rename(file)

    try:
        with naming_errors(file):
            yield part, keep
    finally:
        part.unlink(missing_ok=True)
        os.close(descriptor)
