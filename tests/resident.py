"""The memory of a process while a test lasts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def peak_of(process: psutil.Process) -> Iterator[list[int]]:
    """Yield a list whose only item becomes the process's largest resident memory in this block, in bytes."""
    peak = [0]
    stopped = threading.Event()

    def watch() -> None:
        while not stopped.wait(0.01):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        stopped.set()
        watcher.join()
