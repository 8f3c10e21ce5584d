"""What Ctrl-C and SIGTERM do to a command: they end it in order, and never while it stops what it started."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(SystemExit):
    """SIGTERM or SIGHUP came; its code is the exit status that a shell expects."""


def end_in_order() -> None:
    """Have Ctrl-C, SIGTERM and SIGHUP raise what ends a command, so that all it started gets stopped."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in _ENDING:
        signal.signal(number, _raise_terminated)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No signal ends what is done in here; one that comes is forgotten, for the end has begun already."""
    with _handled_by(signal.SIG_IGN):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """A signal that comes in here counts at the end: a process that is being started is known by then."""
    came: list[int] = []
    with _handled_by(lambda number, frame: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may set handlers, and only it gets signals.
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, *_ENDING)}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated(128 + number)
