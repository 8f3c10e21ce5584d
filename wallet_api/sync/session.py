"""One sync of a job and chain per database: a session has the right to work as long as it is connected."""

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, connect, load_sql, translated
from wallet_api.sync.heartbeats import Job

# The first half of a two-part key; the second says the job, and the chain where it is one chain's.
LOCK_CLASS = 7_404
_PRICES_LOCK = 2
_TRADES_LOCKS = {chain: 10 + place for place, chain in enumerate(CHAINS)}
# The session of a killed process may have a statement to end before its lock is free.
_PATIENCE_SECONDS = 3.0
_LOOK_SECONDS = 0.5

_LOCK = load_sql(__package__, "lock")
_LOCK_HOLDER = load_sql(__package__, "lock_holder")

_Key = Mapping[str, int | list[int]]


class AlreadyRunning(Exception):
    """Another process does this work on this database; the message says which, and what to do."""


class Stopped(Exception):
    """We were asked to stop while waiting for our turn."""


@contextmanager
def sole_session(
    url: str, job: Job, chains: Sequence[str], stopping: threading.Event, *, wait: bool
) -> Iterator[Connection]:
    """The connection that works on `job` for these chains, in autocommit; prices are not a chain's.

    Another one at work: raises AlreadyRunning, or with `wait` takes over when it ends. Raises
    DatabaseUnavailable here and from within, and Stopped. The lock is the session's own, so a killed
    process holds nobody up, and whoever lost the connection has lost the lock too.
    """
    name = f"wallet-api sync {job} pid {os.getpid()} on {socket.gethostname()}"
    locks = [_PRICES_LOCK] if job == "prices" else [_TRADES_LOCKS[chain] for chain in chains]
    key: _Key = {"lock_class": LOCK_CLASS, "locks": locks}
    with translated(), closing(connect(url, application_name=name[:63])) as connection:
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not _locked(connection, key):
            if not wait and time.monotonic() > give_up_at:
                raise AlreadyRunning(_explanation(connection, job, key))
            if stopping.wait(_LOOK_SECONDS):
                raise Stopped
        yield connection
        # Closing alone lets go of it only some moments later.
        connection.execute("SELECT pg_advisory_unlock_all()")


def _locked(connection: Connection, key: _Key) -> bool:
    row = connection.execute(_LOCK, key).fetchone()
    if row is not None and row["held"]:
        return True
    # Some of them may have been free.
    connection.execute("SELECT pg_advisory_unlock_all()")
    return False


def _explanation(connection: Connection, job: Job, key: _Key) -> str:
    holder = connection.execute(_LOCK_HOLDER, key).fetchone()
    who = ""
    if holder:
        who = f" ({holder['application_name']}, since {holder['backend_start']:%Y-%m-%d %H:%M %Z})"
    return (
        f"'wallet-api sync {job}' is at work on this database already{who}. One is enough: leave the work to "
        "it, or stop it first. With --wait this one takes over when that one ends."
    )
