"""Waiting for events in other threads and processes."""

import threading
import time
from collections.abc import Callable


def eventually(happened: Callable[[], bool], seconds: float = 15.0, pause_seconds: float = 0.05) -> bool:
    """Return True as soon as it happens, or False after that time."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        pause.wait(pause_seconds)
    return True
