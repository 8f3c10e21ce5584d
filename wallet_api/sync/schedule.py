"""Rounds at even intervals, and their orderly end."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repeat(work: Callable[[], float], every_seconds: float | None, stopping: threading.Event) -> None:
    """Call `work` every `every_seconds`, or once if it is None, until `stopping` is set.

    Rounds start on a fixed grid. One that takes longer than the interval is followed by the next at once.
    `work` returns the shortest pause before the next round in seconds.
    """
    due = time.monotonic()
    while not stopping.is_set():
        pause = work()
        if every_seconds is None:
            return
        due = next_due(due, time.monotonic(), every_seconds)
        stopping.wait(max(due - time.monotonic(), pause, 0.0))


def next_due(due: float, now: float, every_seconds: float) -> float:
    """Return when the next round is due after one that was due at `due` and ended `now`; may be past."""
    return due + every_seconds * max(1, math.floor((now - due) / every_seconds))


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C, SIGTERM and SIGHUP set. A second signal has its usual effect."""
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
