"""Read a file or a pipe in such a way that another thread can end it."""

import os
import select
from io import BufferedReader, RawIOBase, UnsupportedOperation
from threading import Event
from typing import BinaryIO

_BUFFER_BYTES = 1 << 16
_POLL_MILLISECONDS = 200


class Stopped(Exception):
    """The reading was stopped."""


def check_stopped(stop: Event) -> None:
    """Raise Stopped if the reading is to end."""
    if stop.is_set():
        raise Stopped


class _Interruptible(RawIOBase):
    """The bytes of an open file; a read that waits for a pipe ends after stop."""

    def __init__(self, descriptor: int, stop: Event) -> None:
        self._descriptor = descriptor
        self._stop = stop
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        check_stopped(self._stop)
        while not self._poll.poll(_POLL_MILLISECONDS):
            check_stopped(self._stop)
        return os.readv(self._descriptor, [buffer])


def interruptible(file: BinaryIO, stop: Event) -> BinaryIO:
    """Return the same file, of which nothing was read yet, so that `stop` ends a read of it."""
    try:
        descriptor = file.fileno()
    # One in memory.
    except UnsupportedOperation:
        return file
    return BufferedReader(_Interruptible(descriptor, stop), _BUFFER_BYTES)
