"""The rate of requests to a provider: even, below its limit, and paused while it refuses requests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST_HOLD_SECONDS = 60.0


class Pace:
    """Spaces requests evenly, `per_second` of them; those of urgent work go first. Thread-safe.

    When the provider refuses a request and names no pause, the pause is `hold_seconds`, and doubles with each
    further refusal. `calls` counts the requests.
    """

    def __init__(self, per_second: float, hold_seconds: float) -> None:
        self._interval = 1 / per_second
        self.hold_seconds = hold_seconds
        self._turn = threading.Condition()
        self._thread = threading.local()
        self._urgent = 0
        self._next = 0.0
        self._hold = hold_seconds
        self._held_until = 0.0
        self.calls = 0

    @contextmanager
    def work(self, *, urgent: bool) -> Iterator[None]:
        """Do work whose requests, all of this thread, are urgent or not."""
        self._thread.urgent = urgent
        try:
            yield
        finally:
            self._thread.urgent = False

    def wait(self, calls: int = 1) -> None:
        """Wait until the next request may be sent, which has so many calls of a node."""
        urgent = getattr(self._thread, "urgent", False)
        with self._turn:
            self._urgent += urgent
            # Times are not reserved ahead: after a delay, all missed ones would be used at once.
            while (pause := self._next - time.monotonic()) > 0 or (self._urgent and not urgent):
                self._turn.wait(pause if pause > 0 else self._interval)
            self._urgent -= urgent
            self._next = max(self._next, time.monotonic() + self._interval)
            self.calls += 1

    def refused(self, seconds: float | None) -> None:
        """Pause all requests: for `seconds` if the provider named a pause, else longer each time."""
        with self._turn:
            now = time.monotonic()
            if now < self._held_until:
                # The request was sent before the pause began.
                return
            pause = self._hold if seconds is None else seconds
            self._held_until = now + min(pause, _LONGEST_HOLD_SECONDS)
            self._next = max(self._next, self._held_until)
            self._hold = min(2 * self._hold, _LONGEST_HOLD_SECONDS)

    def accepted(self) -> None:
        """Reset the pause to its first length."""
        with self._turn:
            self._hold = self.hold_seconds
