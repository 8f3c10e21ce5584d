"""Large data: one thread at a time has any in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Decoded, JSON takes about ten times its size.
LARGE_BYTES = 1024 * 1024


class Share:
    """What one thread reads. It may be small, or large after all others that are."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self._bytes = 0
        self._is_large = False

    def add(self, size: int, timeout_seconds: float) -> bool:
        """Count so many bytes more. Return whether they may be read, after a wait if they are too many."""
        self._bytes += size
        if self._bytes > LARGE_BYTES and not self._is_large:
            self._is_large = self._lock.acquire(timeout=max(0.0, timeout_seconds))
            return self._is_large
        return True

    def give_back(self) -> None:
        """Let the next one be large."""
        if self._is_large:
            self._lock.release()


class Large:
    """Hands out shares."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def share(self) -> Iterator[Share]:
        """Yield the share of this thread, until it has no use any more for what it has read."""
        share = Share(self._lock)
        try:
            yield share
        finally:
            share.give_back()
