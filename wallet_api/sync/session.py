"""One sync of a kind per database: a session that holds the right to work, for as long as it is connected."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from wallet_api.database import Connection, connect, load_sql, translated
from wallet_api.sync.heartbeats import Job

# The first half of a two-part key; the second is the job's place.
LOCK_CLASS = 7_404
_LOCKS: dict[Job, int] = {"trades": 1, "prices": 2}
# The session of a killed process may have a statement to end before its lock is free.
_PATIENCE_SECONDS = 5.0
_LOOK_SECONDS = 0.5

_LOCK_HOLDER = load_sql(__package__, "lock_holder")


class AlreadyRunning(Exception):
    """Another process does this work on this database; the message says which, and what to do."""


class Stopped(Exception):
    """We were asked to stop while waiting for our turn."""


@contextmanager
def sole_session(url: str, job: Job, stopping: threading.Event, *, wait: bool) -> Iterator[Connection]:
    """The connection that works on `job`, in autocommit.

    Another one at work: raises AlreadyRunning, or with `wait` takes over when it ends. Raises
    DatabaseUnavailable here and from within, and Stopped. The lock is the session's own, so a killed
    process holds nobody up, and whoever lost the connection has lost the lock too.
    """
    name = f"wallet-api sync {job} pid {os.getpid()} on {socket.gethostname()}"
    key = {"lock_class": LOCK_CLASS, "lock": _LOCKS[job]}
    with translated(), closing(connect(url, application_name=name[:63])) as connection:
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not _locked(connection, key):
            if not wait and time.monotonic() > give_up_at:
                raise AlreadyRunning(_explanation(connection, job, key))
            if stopping.wait(_LOOK_SECONDS):
                raise Stopped
        yield connection
        # Closing alone lets go of it only some moments later.
        connection.execute("SELECT pg_advisory_unlock(%(lock_class)s::integer, %(lock)s::integer)", key)


def _locked(connection: Connection, key: dict[str, int]) -> bool:
    row = connection.execute(
        "SELECT pg_try_advisory_lock(%(lock_class)s::integer, %(lock)s::integer) AS held", key
    ).fetchone()
    return row is not None and bool(row["held"])


def _explanation(connection: Connection, job: Job, key: dict[str, int]) -> str:
    holder = connection.execute(_LOCK_HOLDER, key).fetchone()
    who = ""
    if holder:
        who = f" ({holder['application_name']}, since {holder['backend_start']:%Y-%m-%d %H:%M %Z})"
    return (
        f"'wallet-api sync {job}' is at work on this database already{who}. One is enough: leave the work to "
        "it, or stop it first. With --wait this one takes over when that one ends."
    )
