"""Rounds at even intervals, for one run or for weeks, and their end in order."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repeat(work: Callable[[], float], every_seconds: float | None, stopping: threading.Event) -> None:
    """Call `work` every so many seconds, once if None, until `stopping` is set.

    The beginnings stay on one grid, however long a round takes; one that takes longer than the interval is
    followed by the next at once. `work` answers how many seconds the next one has to wait at least.
    """
    due = time.monotonic()
    while not stopping.is_set():
        pause = work()
        if every_seconds is None:
            return
        due = next_due(due, time.monotonic(), every_seconds)
        stopping.wait(max(due - time.monotonic(), pause, 0.0))


def next_due(due: float, now: float, every_seconds: float) -> float:
    """When the next round begins after one that was due at `due` and ended `now`: maybe in the past."""
    return due + every_seconds * max(1, math.floor((now - due) / every_seconds))


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C, SIGTERM and SIGHUP set; a second one acts as it would have."""
    stopping = threading.Event()
    before = {number: signal.getsignal(number) for number in _ENDING}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()
        restore()

    for number in _ENDING:
        signal.signal(number, stop)
    try:
        yield stopping
    finally:
        restore()
