"""A thread that repeats work in the background, outside of requests."""

import atexit
import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from wallet_api.base.errors import ServiceUnavailable

log = logging.getLogger(__name__)

CLOSE_SECONDS = 3.0
# Between the last calls, until one succeeds.
_REPEAT_SECONDS = 0.05


class Recurring:
    """Calls `work` every `period_seconds` after start(), and after each wake().

    An error does not end the thread. With `ends_with_success`, close() repeats the call until it succeeds,
    for `close_seconds` at most; 0 means one call.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        period_seconds: float,
        *,
        ends_with_success: bool = True,
        close_seconds: float = CLOSE_SECONDS,
    ) -> None:
        self.closed = False
        self._ends_with_success = ends_with_success
        self._close_seconds = close_seconds
        self._name = name
        self._work = work
        self._period_seconds = period_seconds
        self._failing = False
        self._woken = Event()
        self._lock = Lock()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread, if it is not running. To be called after the fork."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self.closed:
                    atexit.register(self.close)
                    self._thread = Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()

    def wake(self) -> None:
        """Call `work` now."""
        self._woken.set()

    def close(self) -> None:
        """End the thread. Waits up to CLOSE_SECONDS: a call that has begun may outlast `close_seconds`."""
        with self._lock:
            self.closed = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)
        atexit.unregister(self.close)

    def _run(self) -> None:
        while True:
            self._woken.wait(self._period_seconds)
            self._woken.clear()
            if self.closed:
                break
            self._succeeds()
        deadline = time.monotonic() + self._close_seconds
        while self._ends_with_success and not self._succeeds() and time.monotonic() < deadline:
            time.sleep(_REPEAT_SECONDS)

    def _succeeds(self) -> bool:
        try:
            self._work()
        except Exception as error:
            if not self._failing:
                is_outage = isinstance(error, ServiceUnavailable)
                log.warning("%s: failed and will be repeated: %s", self._name, error, exc_info=not is_outage)
            self._failing = True
            return False
        if self._failing:
            log.warning("%s: works again.", self._name)
        self._failing = False
        return True
