"""Turns: of a worker's threads a few work at a time, and who waits for something lets another go on."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_mine = threading.local()


class Turns(Executor):
    """Threads that take jobs in their order, `at_once` of them at a time.

    Python runs one thread at a time and picks it without regard to who has waited longest: of eight busy
    threads the unlucky ones answer five times as late as the others. Two are enough to keep it busy, as
    long as those that wait for something else give up their turns (`give_up`, or `relieve` from outside).
    """

    def __init__(self, threads: int, at_once: int) -> None:
        self._at_once = at_once
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._free: SimpleQueue[None] = SimpleQueue()
        # By thread, since when it has its turn. Whoever takes an entry out passes the turn on.
        self._since: dict[int, float] = {}
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for _ in range(at_once):
            self._free.put(None)
        for thread in self._threads:
            thread.start()

    def submit(
        self, fn: Callable[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> "Future[Result]":
        """Have a thread call the function when it is its turn."""
        future: Future[Result] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # noqa: BLE001 - whoever waits for the result gets it
                    future.set_exception(error)

        self._jobs.put(run)
        return future

    @property
    def waiting(self) -> bool:
        """Whether a job waits while all turns are taken; another is picked up in a moment."""
        return len(self._since) >= self._at_once and not self._jobs.empty()

    def relieve(self, late_seconds: float) -> None:
        """While jobs wait, take the turns that threads have had for so long: they wait for a client."""
        if self.waiting:
            latest = time.monotonic() - late_seconds
            for thread, since in list(self._since.items()):
                if since < latest:
                    self._pass_on(thread)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads once all jobs that were submitted are done."""
        for _ in self._threads:
            self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _pass_on(self, thread: int) -> None:
        if self._since.pop(thread, None) is not None:
            self._free.put(None)

    def _work(self) -> None:
        me = threading.get_ident()
        _mine.give_up = lambda: self._pass_on(me)
        while True:
            self._free.get()
            has_turn = True
            while has_turn:
                job = self._jobs.get()
                if job is None:
                    self._free.put(None)
                    return
                self._since[me] = time.monotonic()
                job()
                # Kept for the next job, unless it was given up or taken.
                has_turn = self._since.pop(me, None) is not None


def give_up() -> None:
    """To be called before this thread waits for long: another one may work meanwhile."""
    pass_on: Callable[[], None] | None = getattr(_mine, "give_up", None)
    if pass_on is not None:
        pass_on()
