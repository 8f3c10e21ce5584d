"""How tests wait for what happens elsewhere."""

import threading
import time
from collections.abc import Callable


def eventually(happened: Callable[[], bool], seconds: float = 15.0, pause_seconds: float = 0.05) -> bool:
    """Whether it happens within that time; comes back as soon as it has."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        pause.wait(pause_seconds)
    return True
