"""A bulkhead: slow requests take a part of a worker's threads, never all of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from wallet_api.blocking import about_to_block
from wallet_api.errors import ServiceUnavailable

# How long a request waits while nothing moves.
WAIT_SECONDS = 0.15


class Busy(ServiceUnavailable):
    """Too many slow requests are in progress. Try again shortly."""


class Bulkhead:
    """Has room for three quarters of a worker's threads, at least one; the others stay free.

    A request enters for what may take long: to read the database, or to wait for another that does.
    """

    def __init__(self, threads: int) -> None:
        self._free = max(1, threads * 3 // 4)
        self._changed = Condition()
        self._changed_at = time.monotonic()

    @contextmanager
    def room(self, wait: bool = True) -> Iterator[None]:
        """Enter for this block. Raise Busy if nobody has entered or left for a while.

        While others come and go, a request waits for its turn, unless it does not `wait`.
        """
        if not self._free and wait:
            about_to_block()
        with self._changed:
            while not self._free:
                left = self._changed_at + WAIT_SECONDS - time.monotonic()
                if left <= 0 or not wait:
                    raise Busy
                self._changed.wait(left)
            self._free -= 1
            self._changed_at = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed_at = time.monotonic()
                self._changed.notify()
