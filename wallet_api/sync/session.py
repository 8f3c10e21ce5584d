"""A lock that allows one sync for each job and chain of a database, held by a database session."""

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, connect, load_sql, translated
from wallet_api.sync.heartbeats import Job

# The first part of the lock's key; the second is the job or, for trades, the chain.
LOCK_CLASS = 7_404
_PRICES_LOCK = 2
_TRADES_LOCKS = {chain: 10 + place for place, chain in enumerate(CHAINS)}
# The session of a killed process keeps its lock until its statement ends.
_LOCK_WAIT_SECONDS = 3.0
_POLL_SECONDS = 0.5

_LOCK = load_sql(__package__, "lock")
_LOCK_HOLDER = load_sql(__package__, "lock_holder")

_Key = Mapping[str, int | list[int]]


class AlreadyRunning(Exception):
    """Another process runs this sync on this database. The message names it, and what to do."""


class Stopped(Exception):
    """A stop was requested while waiting for the lock."""


@contextmanager
def sole_session(
    url: str, job: Job, chains: Sequence[str], stopping: threading.Event, *, wait: bool
) -> Iterator[Connection]:
    """Yield the connection that holds the locks for `job` and these chains, in autocommit.

    Prices have one lock for all chains. If another process holds a lock, raise AlreadyRunning, or with `wait`
    wait until it is free. Raise DatabaseUnavailable, also from within the context, and Stopped. The session
    holds the locks, so they end with the process or its connection.
    """
    name = f"wallet-api sync {job} pid {os.getpid()} on {socket.gethostname()}"
    locks = [_PRICES_LOCK] if job == "prices" else [_TRADES_LOCKS[chain] for chain in chains]
    key: _Key = {"lock_class": LOCK_CLASS, "locks": locks}
    with translated(), closing(connect(url, application_name=name[:63])) as connection:
        give_up_at = time.monotonic() + _LOCK_WAIT_SECONDS
        while not _locked(connection, key):
            if not wait and time.monotonic() > give_up_at:
                raise AlreadyRunning(_explanation(connection, job, key))
            if stopping.wait(_POLL_SECONDS):
                raise Stopped
        yield connection
        # Closing the connection releases the locks only a moment later.
        connection.execute("SELECT pg_advisory_unlock_all()")


def _locked(connection: Connection, key: _Key) -> bool:
    if connection.fetch_value(_LOCK, key):
        return True
    # Some of the locks may have been acquired.
    connection.execute("SELECT pg_advisory_unlock_all()")
    return False


def _explanation(connection: Connection, job: Job, key: _Key) -> str:
    holder = connection.execute(_LOCK_HOLDER, key).fetchone()
    who = ""
    if holder:
        who = f" ({holder['application_name']}, since {holder['backend_start']:%Y-%m-%d %H:%M %Z})"
    return (
        f"'wallet-api sync {job}' already runs on this database{who}. Stop it first, or add --wait to take "
        "over when it ends."
    )
