"""Large data: one thread at a time has any in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from wallet_api.blocking import about_to_block
from wallet_api.errors import Busy

# Decoded, JSON takes about ten times its size.
LARGE_BYTES = 1024 * 1024
# JSON that is passed on as it is takes a few times its size.
LARGE_JSON_BYTES = 8 * 1024 * 1024
# How long a request waits for another one that has large data.
_WAIT_SECONDS = 0.2


class Share:
    """What one thread reads. It may be small, or large after all others that are."""

    def __init__(self, lock: Lock, large_bytes: int) -> None:
        self._lock = lock
        self._large_bytes = large_bytes
        self._bytes = 0
        self._is_large = False

    def add(self, size: int, timeout_seconds: float) -> bool:
        """Count so many bytes more. Return whether they may be read, after a wait if they are too many."""
        self._bytes += size
        if self._bytes > self._large_bytes and not self._is_large:
            about_to_block()
            self._is_large = self._lock.acquire(timeout=max(0.0, timeout_seconds))
            return self._is_large
        return True

    def reserve(self, size: int) -> None:
        """Count so many bytes in all, if more than before. Raise Busy if another thread has large data."""
        if not self.add(max(0, size - self._bytes), _WAIT_SECONDS):
            raise Busy

    def give_back(self) -> None:
        """Let the next one be large."""
        if self._is_large:
            self._lock.release()


class Large:
    """Hands out shares, each small up to `large_bytes`."""

    def __init__(self, large_bytes: int) -> None:
        self._lock = Lock()
        self._large_bytes = large_bytes

    @contextmanager
    def share(self) -> Iterator[Share]:
        """Yield the share of this thread, until it has no use any more for what it has read."""
        share = Share(self._lock, self._large_bytes)
        try:
            yield share
        finally:
            share.give_back()
