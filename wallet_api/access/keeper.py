"""A thread that tends what a process has leased, so that no request has to."""

import atexit
import logging
from collections.abc import Callable
from threading import Event, Lock, Thread

from wallet_api.errors import ServiceUnavailable

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1
RETRY_SECONDS = 0.5
MAX_REST_SECONDS = 3.0


class Keeper:
    """Runs `tend` when it is woken, and then at every tick until `tend` says that nothing is left to do.

    Once it was woken, `last` is run when the process ends.
    """

    def __init__(self, name: str, tend: Callable[[], bool], last: Callable[[], None]) -> None:
        self._name = name
        self._tend = tend
        self._last = last
        self._lock = Lock()
        self._thread: Thread | None = None
        self._woken = Event()
        self._closed = Event()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed.is_set():
                    atexit.register(self._last)
                    # Made for the first request that needs it, so after any fork.
                    self._thread = Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Tend nothing any more; returns when the thread is at rest."""
        with self._lock:
            self._closed.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(MAX_REST_SECONDS)
        atexit.unregister(self._last)

    def _run(self) -> None:
        more = True
        while not self._closed.is_set():
            self._woken.wait(TICK_SECONDS if more else None)
            self._woken.clear()
            if not self._closed.is_set():
                more = self._tend_or_retry()

    def _tend_or_retry(self) -> bool:
        try:
            return self._tend()
        except ServiceUnavailable as error:
            log.warning("%s have to wait: %s", self._name, error.message)
        except Exception:
            # Whatever it was, what is leased still has to be returned.
            log.exception("%s failed, and are tried again", self._name)
        self._closed.wait(RETRY_SECONDS)
        return True
