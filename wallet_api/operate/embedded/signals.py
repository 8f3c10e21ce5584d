"""Handling of Ctrl-C, SIGTERM and SIGHUP: a command exits only after it has stopped its child processes."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from wallet_api.base.signals import hear_signals

_ENDING = (signal.SIGTERM, signal.SIGHUP)
# Long enough for a finalizer to end, so that the signal does not meet the same one again.
_REPEAT_SECONDS = 0.1


def end_in_order() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP raise an exception, so that the command cleans up.

    One that is ignored at the start, as SIGHUP under nohup, stays so. Python drops an exception that is
    raised in a finalizer, such as that of a process which has ended. Such a signal is sent once more.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in _ENDING:
        if not _is_ignored(number):
            signal.signal(number, _exit)
    sys.unraisablehook = _repeat
    hear_signals()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore signals in this block, which cleans up."""
    with _handled_by(signal.SIG_IGN):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Deliver signals only at the end of this block, when a process that it starts is in a variable."""
    received: list[int] = []
    with _handled_by(lambda number, frame: received.append(number)):
        yield
    if received:
        signal.raise_signal(received[0])


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may set handlers and receives signals.
        yield
        return
    numbers = [number for number in (signal.SIGINT, *_ENDING) if not _is_ignored(number)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    # The exit status that a shell expects.
    sys.exit(128 + number)


def _repeat(dropped: "sys.UnraisableHookArgs") -> None:
    if isinstance(dropped.exc_value, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif isinstance(dropped.exc_value, SystemExit) and isinstance(dropped.exc_value.code, int):
        number = dropped.exc_value.code - 128
    else:
        sys.__unraisablehook__(dropped)
        return
    # Not from this thread: the handler would run in this hook, whose exceptions are dropped too.
    again = threading.Timer(_REPEAT_SECONDS, os.kill, [os.getpid(), number])
    again.daemon = True
    again.start()
