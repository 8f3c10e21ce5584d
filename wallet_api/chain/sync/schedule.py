"""Rounds at even intervals, and their orderly end."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from wallet_api.base.signals import hear_signals
from wallet_api.chain.sync.summaries import RoundSummary

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repeat(
    work: Callable[[], RoundSummary], every_seconds: float | None, stopping: threading.Event
) -> RoundSummary:
    """Call `work` every `every_seconds` until `stopping` is set, or once if it is None.

    Return the last summary. Rounds start on a fixed grid; one that takes longer than the interval is followed
    by the next at once.
    """
    due = time.monotonic()
    while True:
        summary = work()
        if every_seconds is None:
            return summary
        due = next_due(due, time.monotonic(), every_seconds)
        if stopping.wait(max(due - time.monotonic(), summary.pause_seconds, 0.0)):
            return summary


def next_due(due: float, now: float, every_seconds: float) -> float:
    """Return when the next round is due after one that was due at `due` and ended `now`; may be past."""
    return due + every_seconds * max(1, math.floor((now - due) / every_seconds))


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C, SIGTERM and SIGHUP set. A second signal has its usual effect.

    Those that are ignored at the start, as SIGHUP under nohup, stay so.
    """
    stopping = threading.Event()
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    is_handled = False

    def react(number: int) -> None:
        # Not in the handler, which would wait forever for the lock of the event if it interrupted wait(). A
        # signal that got another handler meanwhile ends nothing.
        if is_handled or signal.getsignal(number) is stop:
            stopping.set()

    def stop(*_: int | FrameType | None) -> None:
        nonlocal is_handled
        is_handled = True
        for number, handler in before.items():
            signal.signal(number, handler)

    end = hear_signals(react)
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopping
    finally:
        stop()
        end()
