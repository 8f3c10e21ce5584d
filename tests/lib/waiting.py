"""Waiting for events in other threads, processes and sessions."""

import threading
import time
from collections.abc import Callable

from psycopg.sql import SQL

from wallet_api.database import Connection


def eventually(happened: Callable[[], bool], seconds: float = 15.0, pause_seconds: float = 0.05) -> bool:
    """Return True as soon as it happens, or False after that time."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        pause.wait(pause_seconds)
    return True


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
