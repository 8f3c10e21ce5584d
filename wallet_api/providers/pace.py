"""How often a provider is asked: evenly, below its limit, and less while it says that it is too much."""

import threading
import time
from typing import Any

from requests import Response

from wallet_api.providers.deadline import DeadlineAdapter
from wallet_api.providers.fetch import Fetcher, Limits
from wallet_api.providers.replies import Reply

_LONGEST_HOLD_SECONDS = 60.0


class Pace:
    """Gives every call its moment, `per_second` of them, none close to the one before; shared by threads.

    A provider that asks for a pause and does not say how long gets `hold_seconds`, and more if it has to
    repeat it. `calls` counts the calls.
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
        """Return when it is the caller's turn."""
        # Nobody has a turn before it is given: turns missed while the machine was busy would all be made
        # up for at once.
        with self._turn:
            while (pause := self._pause()) > 0:
                time.sleep(pause)
            with self._lock:
                self._next = max(self._next, time.monotonic() + self._interval)
                self.calls += 1

    def refused(self, seconds: float | None) -> None:
        """The provider asks for a pause, of `seconds` if it says so; asked again after it, a longer one."""
        with self._lock:
            now = time.monotonic()
            if now < self._held_until:
                # Said to a call that had gone out before the pause began.
                return
            pause = self._hold if seconds is None else seconds
            self._held_until = now + min(pause, _LONGEST_HOLD_SECONDS)
            self._next = max(self._next, self._held_until)
            self._hold = min(2 * self._hold, _LONGEST_HOLD_SECONDS)

    def accepted(self) -> None:
        """The provider answered as it should."""
        with self._lock:
            self._hold = self._first_hold

    def _pause(self) -> float:
        with self._lock:
            return self._next - time.monotonic()


class _PacedAdapter(DeadlineAdapter):
    def __init__(self, pace: Pace, limits: Limits) -> None:
        self._pace = pace
        super().__init__(limits.silence_seconds, limits.connections)

    def send(self, *args: Any, **options: Any) -> Response:
        self._pace.wait()
        response = super().send(*args, **options)
        if response.status_code == 429:
            self._pace.refused(Reply(429, response.headers, b"").retry_after_seconds)
        elif response.status_code < 400:
            self._pace.accepted()
        return response


def at_pace(fetcher: Fetcher, pace: Pace) -> Fetcher:
    """The fetcher, each of whose calls, retries as well, from now on waits for its turn."""
    adapter = _PacedAdapter(pace, fetcher.limits)
    fetcher.session.mount("https://", adapter)
    fetcher.session.mount("http://", adapter)
    return fetcher
