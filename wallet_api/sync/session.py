"""A lock that allows one sync for each job and chain of a database, held by a database session."""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, connect, load_statements, translated
from wallet_api.sync.report import SyncName

# The first part of the lock's key; the second is the job or, for trades, the chain.
LOCK_CLASS = 7_404
_PRICES_LOCK = 2
_TOKENS_LOCK = 3
_TRADES_LOCKS = {chain: 10 + place for place, chain in enumerate(CHAINS)}

_SESSION = load_statements(__package__, "session")


class AlreadyRunning(Exception):
    """Another process runs this sync on this database. The message names it, and what to do."""


@contextmanager
def sole_session(url: str, job: SyncName, chains: Sequence[str]) -> Iterator[Connection]:
    """Yield the connection that holds the locks for `job` and these chains, in autocommit.

    Prices have one lock for all chains, and so have tokens. Raise AlreadyRunning if another process holds a
    lock, and DatabaseUnavailable, also from within the context. The session holds the locks, so they end with
    the process or its connection.
    """
    name = f"wallet-api sync {job} pid {os.getpid()} on {socket.gethostname()}"
    alone = {"prices": [_PRICES_LOCK], "tokens": [_TOKENS_LOCK]}
    locks = alone.get(job) or [_TRADES_LOCKS[chain] for chain in chains]
    key = {"lock_class": LOCK_CLASS, "locks": locks}
    with translated(), closing(connect(url, application_name=name[:63])) as connection:
        if not connection.fetch_value(_SESSION["lock"], key):
            raise AlreadyRunning(
                f"'wallet-api sync {job}' already runs on this database{_holder(connection, key)}. "
                "Stop it first, or add --wait to take over when it ends."
            )
        yield connection
        # Closing the connection releases the locks only a moment later.
        connection.execute("SELECT pg_advisory_unlock_all()")


def _holder(connection: Connection, key: Mapping[str, Any]) -> str:
    row = connection.execute(_SESSION["holder"], key).fetchone()
    return f" ({row['application_name']}, since {row['backend_start']:%Y-%m-%d %H:%M %Z})" if row else ""
