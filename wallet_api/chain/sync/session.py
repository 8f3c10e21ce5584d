"""A lock that allows one sync of each name and chain of a database, held by a database session."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from wallet_api.chain.sync.report import SyncName
from wallet_api.database import Connection, connect, load_statements, locks, translated

_SESSION = load_statements(__package__, "session")


class SyncRunning(Exception):
    """Another process runs this sync on this database. The message names it, and what to do."""


@contextmanager
def sole_session(url: str, sync: SyncName, chains: Sequence[str]) -> Iterator[Connection]:
    """Yield the connection that holds the locks for `sync` and these chains, in autocommit.

    Prices have one lock for all chains, and so have tokens. Raise SyncRunning if another process holds a
    lock, and DatabaseUnavailable, also from within the context. The session holds the locks, so they end with
    the process or its connection.
    """
    names = [f"trades {chain}" for chain in chains] if sync == "trades" else [sync]
    key = {"lock_class": locks.SYNCS, "locks": [zlib.crc32(name.encode()) >> 1 for name in names]}
    with translated(), closing(connect(url, sole=f"sync {sync}")) as connection:
        if not connection.fetch_value(_SESSION["lock"], key):
            raise SyncRunning(
                f"'wallet-api sync {sync}' already runs on this database{_holder(connection, key)}. "
                "Stop it first, or add --wait to take over when it ends."
            )
        yield connection
        # Closing the connection releases the locks only a moment later.
        connection.execute("SELECT pg_advisory_unlock_all()")


def _holder(connection: Connection, key: Mapping[str, Any]) -> str:
    row = connection.execute(_SESSION["holder"], key).fetchone()
    return f" ({row['application_name']}, since {row['backend_start']:%Y-%m-%d %H:%M %Z})" if row else ""
