"""The rate of requests to a provider: even, below its limit, and paused while it refuses requests."""

import threading
import time

_LONGEST_HOLD_SECONDS = 60.0


class Pace:
    """Spaces requests evenly, `per_second` of them. Thread-safe.

    When the provider refuses a request and names no pause, the pause is `hold_seconds`, and doubles with each
    further refusal. `calls` counts the requests.
    """

    def __init__(self, per_second: float, hold_seconds: float) -> None:
        self._interval = 1 / per_second
        self._first_hold = hold_seconds
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._next = 0.0
        self._hold = hold_seconds
        self._held_until = 0.0
        self.calls = 0

    def wait(self) -> None:
        """Wait until the next request may be sent."""
        # Times are not reserved ahead: after a delay, all missed ones would be used at once.
        with self._turn:
            while (pause := self._pause()) > 0:
                time.sleep(pause)
            with self._lock:
                self._next = max(self._next, time.monotonic() + self._interval)
                self.calls += 1

    def refused(self, seconds: float | None) -> None:
        """Pause all requests: for `seconds` if the provider named a pause, else longer each time."""
        with self._lock:
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
        with self._lock:
            self._hold = self._first_hold

    def _pause(self) -> float:
        with self._lock:
            return self._next - time.monotonic()
