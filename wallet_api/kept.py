"""A value that is made once for all threads, and kept for a while."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from wallet_api.blocking import about_to_block, step_aside
from wallet_api.errors import ApiError, Busy

Value = TypeVar("Value")

# After a failure nothing is made for as long.
_RETRY_SECONDS = 1.0


class KeptValue(Generic[Value]):
    """What `make` returns, made again once it is older than `ttl_seconds` and somebody needs it."""

    def __init__(
        self, make: Callable[[], Value], ttl_seconds: float, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._ttl_seconds = ttl_seconds
        self._timer = timer
        self._lock = Lock()
        # A tuple of one, or nothing yet.
        self._kept: tuple[Value] | None = None
        self._failure: ApiError | None = None
        self._due = timer()

    def get(self) -> Value:
        """Return the value, or the one before while another thread makes it or if it cannot be made.

        Raise what `make` raises if there is no value yet, or Busy if too many wait for one.
        """
        kept = self._kept
        if kept is not None and (self._timer() < self._due or self._lock.locked()):
            return kept[0]
        with step_aside() as is_replaced:
            if not is_replaced:
                raise Busy
            about_to_block()
            with self._lock:
                if self._timer() >= self._due:
                    self._refresh()
                if self._kept is not None:
                    return self._kept[0]
                assert self._failure is not None
                raise self._failure

    def _refresh(self) -> None:
        started_at = self._timer()
        try:
            self._kept = (self._make(),)
            self._due = started_at + self._ttl_seconds
        except ApiError as failure:
            self._failure = failure
            self._due = self._timer() + min(self._ttl_seconds, _RETRY_SECONDS)
