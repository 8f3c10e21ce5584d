"""A bulkhead: slow requests take a part of a worker's threads, never all of them."""

import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from threading import Condition
from typing import TypeVar

from wallet_api.blocking import about_to_block, step_aside
from wallet_api.errors import Busy

Result = TypeVar("Result")

# How long a request waits while nobody enters or leaves.
_WAIT_SECONDS = 0.2


class Bulkhead:
    """Has room for three quarters of a worker's threads, at least one; the others stay free.

    A request enters for what may take long: to read the database. One that waits for the result of another
    takes no room as long as the server has another thread in its place.
    """

    def __init__(self, threads: int) -> None:
        self._free = max(1, threads * 3 // 4)
        self._changed = Condition()
        self._changed_at = time.monotonic()
        # Since a request has waited in vain, none has succeeded: others need not wait.
        self._is_stuck = False

    @contextmanager
    def room(self, wait: bool = True) -> Iterator[None]:
        """Enter for this block. Raise Busy if nobody has entered or left for a while.

        While others come and go, a request waits for its turn, unless it does not `wait`.
        """
        if not self._free and wait:
            about_to_block()
        with self._changed:
            while not self._free:
                left = self._changed_at + _WAIT_SECONDS - time.monotonic()
                self._is_stuck = self._is_stuck or left <= 0
                if self._is_stuck or not wait:
                    raise Busy
                self._changed.wait(left)
            self._free -= 1
            self._changed_at = time.monotonic()
        try:
            yield
            self._is_stuck = False
        finally:
            with self._changed:
                self._free += 1
                self._changed_at = time.monotonic()
                self._changed.notify()

    def result(self, flight: Future[Result]) -> Result:
        """Return the result of a flight of another thread. Raise what it raises, or Busy."""
        with step_aside() as is_replaced, nullcontext() if is_replaced else self.room():
            about_to_block()
            return flight.result()
