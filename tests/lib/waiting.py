"""Waiting for events in other threads, processes and sessions, and the clock for limits of time."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from psycopg.sql import SQL

from wallet_api.database import Connection

# So long a test waits for what has to happen, by the clock below, and for a response or the end of a process.
PATIENCE_SECONDS = 60.0

_PRESSURE = Path("/proc/pressure/cpu")
# Of a second in which a process waits for a processor, the clock goes on by the rest.
_STALLED_PART = 0.9


def calm_seconds() -> float:
    """Return the seconds of a monotonic clock that goes slower while processes wait for a processor.

    On a quiet machine it is as fast as any, and on a busy one up to ten times slower: what is measured by it
    may take longer there. Only Linux counts such waits.
    """
    stalled = 0
    with suppress(OSError):
        stalled = int(_PRESSURE.read_bytes().partition(b"total=")[2].split()[0])
    return time.monotonic() - _STALLED_PART * stalled / 1e6


def eventually(
    happened: Callable[[], bool], seconds: float = PATIENCE_SECONDS, pause_seconds: float = 0.05
) -> bool:
    """Return True as soon as it happens, or False after that time, by `calm_seconds`."""
    pause = threading.Event()
    deadline = calm_seconds() + seconds
    while not happened():
        if calm_seconds() > deadline:
            return False
        pause.wait(pause_seconds)
    return True


@contextmanager
def repeated(work: Callable[[], object], pause_seconds: float = 0.0) -> Iterator[None]:
    """Do this in a thread in this block again and again, each time after a pause; raise what it raises."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(pause_seconds):
            work()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        try:
            yield
        finally:
            ended.set()
        running.result()


def waiting(connection: Connection) -> int:
    """Return how many sessions of this database wait for a lock, on any server of a cluster."""
    # In a transaction, the first look would be kept.
    connection.execute("SELECT pg_stat_clear_snapshot()")
    activity = SQL("citus_stat_activity" if connection.is_sharded else "pg_stat_activity")
    sessions = SQL("SELECT FROM {} WHERE datname = current_database() AND wait_event_type = 'Lock'")
    return connection.execute(sessions.format(activity)).rowcount


def somebody_waits(connection: Connection) -> bool:
    """Return whether a session of this database waits for a lock."""
    return waiting(connection) > 0
