"""Write rejected rows to FILE.rejects.ndjson, each with its line number and reason."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import orjson

from wallet_api.files import named
from wallet_api.forms import BadRow
from wallet_api.ledger.readers import UnreadableFile


class Rejects:
    """The rejects file of one import; it exists afterwards only if something was rejected."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.count = 0
        self._file = file

    def add(self, number: int, line: bytes, fault: BadRow) -> None:
        """Write a rejected line."""
        self.count += 1
        row = line.decode("utf-8", "replace").rstrip("\r\n")
        with named(self.path):
            self._file.write(orjson.dumps({"line": number, "reason": str(fault), "row": row}) + b"\n")


@contextmanager
def rejects_of(name: str) -> Iterator[Rejects]:
    """Open the rejects file beside the file `name`; for standard input, stdin.rejects.ndjson."""
    path = Path(f"{'stdin' if name == '-' else name}.rejects.ndjson")
    try:
        file = path.open("wb")
    except OSError as error:
        raise UnreadableFile(
            f"{path}: {error.strerror}; rejected rows are written there, so the folder must be writable"
        ) from error
    rejects = Rejects(path, file)
    try:
        with named(path), file:
            yield rejects
    except OSError:
        # Only whole lines remain of what a full disk has cut off.
        os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
        raise
    finally:
        if not rejects.count:
            path.unlink(missing_ok=True)
