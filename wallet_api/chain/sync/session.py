"""Locks that allow one sync of each name and chain of a database, and one search, held by its session."""

import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

from wallet_api.base.errors import CommandError
from wallet_api.chain.sync.report import SyncName
from wallet_api.database import Connection, connect, load_statements, locks, translated

_SESSION = load_statements(__package__, "session")
_POLL_SECONDS = 0.1


class SyncRunning(CommandError):
    """Another process runs this sync or search on this database. The message names it, and what to do."""


def sole_session(url: str, sync: SyncName, chains: Sequence[str]) -> AbstractContextManager[Connection]:
    """Return the locked session for `sync` and these chains.

    Prices have one lock for all chains, and so have tokens.
    """
    names = [f"trades {chain}" for chain in chains] if sync == "trades" else [sync]
    return locked_session(
        url, f"sync {sync}", names, "Stop it first, or add --wait to take over when it ends."
    )


@contextmanager
def locked_session(
    url: str, command: str, names: Sequence[str], remedy: str, patience_seconds: float = 0.0
) -> Iterator[Connection]:
    """Yield the connection of a command that holds the locks of these names, in autocommit.

    Raise SyncRunning if another process still holds one after `patience_seconds`, and DatabaseUnavailable,
    also from within the context. The session holds the locks, so they end with the process or its connection.
    """
    key = {"lock_class": locks.SYNCS, "locks": [zlib.crc32(name.encode()) >> 1 for name in names]}
    ends_at = time.monotonic() + patience_seconds
    with translated(), closing(connect(url, sole=command)) as connection:
        while not connection.fetch_value(_SESSION["lock"], key):
            if time.monotonic() >= ends_at:
                holder = _holder(connection, key)
                raise SyncRunning(f"'wallet-api {command}' already runs on this database{holder}. {remedy}")
            time.sleep(_POLL_SECONDS)
        yield connection
        # Closing the connection releases the locks only a moment later.
        connection.execute("SELECT pg_advisory_unlock_all()")


def _holder(connection: Connection, key: Mapping[str, Any]) -> str:
    row = connection.execute(_SESSION["holder"], key).fetchone()
    return f" ({row['application_name']}, since {row['backend_start']:%Y-%m-%d %H:%M %Z})" if row else ""
