"""The connection of the one process that sends webhooks, which holds its lock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wallet_api.base.errors import ServiceUnavailable
from wallet_api.database import KEEPALIVES, Connection, connect, load_statements, locks, translated

_SESSION = load_statements(__package__, "session")
# The server too ends the session of a machine that disappeared, and with it the lock.
_OPTIONS = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"


class AlreadyRunning(ServiceUnavailable):
    """Another 'wallet-api notify' already runs on this database."""


def is_running(connection: Connection) -> bool:
    """Return whether a process sends webhooks of this database."""
    is_locked: bool = connection.fetch_value(_SESSION["is_locked"], {"lock": locks.WEBHOOKS})
    return is_locked


class Session:
    """One connection for all threads: what is sent is read over it, and what is stored goes through it.

    It holds the lock, which ends with it: who has lost the lock can neither read what to send nor store. With
    `is_dry` it has no lock, and tables of its own, which end with it.
    """

    def __init__(self, url: str, *, is_dry: bool = False) -> None:
        self._url, self._is_dry = url, is_dry
        self._mutex = threading.Lock()
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Lend the connection for one transaction. Raises DatabaseUnavailable, AlreadyRunning."""
        with self._mutex, translated():
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
            with self._connection.transaction():
                yield self._connection

    def _connect(self) -> Connection:
        connection = connect(self._url, sole="notify", options=_OPTIONS, **KEEPALIVES)
        if self._is_dry:
            connection.execute(_SESSION["staging"])
        elif not connection.fetch_value(_SESSION["lock"], {"lock": locks.WEBHOOKS}):
            connection.close()
            raise AlreadyRunning
        return connection

    def close(self) -> None:
        """Close the connection, which releases the lock."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
