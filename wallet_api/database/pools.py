"""The pools of connections: one to read, one to write."""

import math
import select
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from wallet_api.blocking import about_to_block, step_aside
from wallet_api.database.connection import CONNECT_TIMEOUT_SECONDS, Connection
from wallet_api.database.failures import DatabaseUnavailable, is_refusal, translated
from wallet_api.errors import ServiceUnavailable
from wallet_api.settings import Settings

POOL_TIMEOUT_SECONDS = 2.0
# How long a request waits for a connection while the server is known to be away.
AWAY_TIMEOUT_SECONDS = 0.05
# How long a pool waits before it connects again after the server has refused its user or password.
REFUSED_SECONDS = 5.0
# A short statement that runs for so long hangs, and others would too.
HANGING_SECONDS = 1.0
# A charge waits no longer for a row that another session has locked.
LOCK_TIMEOUT_MILLISECONDS = 500
# What goes on beside requests, such as to make a leaderboard or to save balances, has these and no others.
_BACKGROUND_CONNECTIONS = 2
# With a server nearer than that, handing over to another thread takes longer than waiting.
_NEAR_SECONDS = 0.0005
_ROUND_TRIPS = 5
# A server that vanished without a word is noticed within about this time; a socket file ignores it.
_KEEPALIVES = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class Database:
    """The pools of one process. Connections are in autocommit: a single statement is a single snapshot.

    Made inside the worker, after the fork, since neither sockets nor the pool's threads survive one.
    """

    def __init__(self, settings: Settings) -> None:
        url = settings.database_url
        if url is None:
            raise ValueError("Database needs settings.database_url")
        # Planning takes longer than running, and always gives the same plan.
        options = (
            f"-c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
            " -c plan_cache_mode=force_generic_plan"
        )
        # Whether read() has no standby to read from.
        self.reads_primary = settings.database_read_url is None
        lock_timeout = f" -c lock_timeout={LOCK_TIMEOUT_MILLISECONDS}"
        size = settings.web_threads + _BACKGROUND_CONNECTIONS
        self._writes = _Pool(url, options + lock_timeout, size)
        self._reads = _Pool(
            settings.database_read_url or url,
            f"{options} -c default_transaction_read_only=on",
            size,
        )

    def read(self, *, in_background: bool = False) -> AbstractContextManager[Connection]:
        """Lend a connection that can change nothing. Raises DatabaseUnavailable, QueryTimeout.

        Few are lent in the background, so that requests have the others.
        """
        return self._reads.lend_in_background() if in_background else self._reads.lend()

    def write(self, *, in_background: bool = False) -> AbstractContextManager[Connection]:
        """Lend a connection to the primary, as `read` does. Raises DatabaseUnavailable, QueryTimeout."""
        return self._writes.lend_in_background() if in_background else self._writes.lend()

    def read_briefly(self) -> AbstractContextManager[Connection]:
        """Lend a connection to read for one short statement of a request, as `write_briefly` does."""
        return self._reads.lend_briefly()

    def write_briefly(self) -> AbstractContextManager[Connection]:
        """Lend a connection to the primary for one short statement of a request.

        Another thread handles requests while this one waits. Raises DatabaseUnavailable, at once while
        another such statement hangs, and QueryTimeout.
        """
        return self._writes.lend_briefly()

    def accepts_writes(self) -> bool:
        """Return whether the primary answers."""
        try:
            with self.write() as connection:
                connection.execute("SELECT")
        except ServiceUnavailable:
            return False
        return True

    def close(self) -> None:
        """Close all connections; the pools cannot be used again."""
        self._reads.close()
        self._writes.close()


class _Refusal:
    """Why the server refuses a pool. Its next attempt waits REFUSED_SECONDS."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.closed = threading.Event()

    def note(self, error: psycopg.Error) -> None:
        """Note why an attempt has failed, and delay the next one if this one was refused."""
        self.reason = str(error) if is_refusal(error) else None
        if self.reason is not None:
            # In a thread of the pool, which starts no other attempt meanwhile.
            self.closed.wait(REFUSED_SECONDS)


class _PooledConnection(Connection):
    """A connection whose attempts are noted."""

    @classmethod
    def connect(cls, conninfo: str = "", *, refusal: _Refusal, **options: Any) -> Self:  # type: ignore[override]
        """Connect, and note a refusal."""
        try:
            connection = super().connect(conninfo, **options)
        except psycopg.Error as error:
            refusal.note(error)
            raise
        refusal.reason = None
        return connection


class _Pool:
    """Connections to one server, or to the first of several that accepts them. Dead ones are not lent."""

    def __init__(self, url: str, options: str, size: int) -> None:
        self._away = False
        self._round_trip_seconds = math.inf
        self._refusal = _Refusal()
        self._background = threading.Semaphore(_BACKGROUND_CONNECTIONS)
        self._brief: dict[int, float] = {}  # when the short statement of each thread began
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            connection_class=_PooledConnection,
            kwargs={
                "refusal": self._refusal,
                "autocommit": True,
                "row_factory": dict_row,
                # There are few statements, and all come again.
                "prepare_threshold": 0,
                "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                "options": options,
                "application_name": "wallet-api",
                **_KEEPALIVES,
            },
            min_size=1,
            max_size=size,
            timeout=POOL_TIMEOUT_SECONDS,
            # Given up at once: the next request tries again, without a growing back-off.
            reconnect_timeout=0.2,
            reconnect_failed=self._note_failure,
            configure=self._configure,
            check=self._check,
            open=False,
        )
        self._pool.open()

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        """Lend a connection. While the server is away, only the first request waits long for one."""
        if self._round_trip_seconds > _NEAR_SECONDS:
            about_to_block()
        wait_seconds = AWAY_TIMEOUT_SECONDS if self._away else POOL_TIMEOUT_SECONDS
        with translated():
            try:
                connection = self._pool.getconn(wait_seconds)
            except PoolTimeout:
                self._away = True
                if self._refusal.reason is not None:
                    raise psycopg.OperationalError(self._refusal.reason) from None
                raise
            self._away = False
            try:
                yield connection
            finally:
                self._pool.putconn(connection)

    @contextmanager
    def lend_briefly(self) -> Iterator[Connection]:
        """Lend a connection for a short statement, if no other such statement hangs."""
        now, thread = time.monotonic(), threading.get_ident()
        if any(now - began > HANGING_SECONDS for began in list(self._brief.values())):
            raise DatabaseUnavailable
        self._brief[thread] = now
        try:
            with step_aside(), self.lend() as connection:
                yield connection
        finally:
            del self._brief[thread]

    @contextmanager
    def lend_in_background(self) -> Iterator[Connection]:
        """Lend a connection if few are lent in the background."""
        if not self._background.acquire(timeout=POOL_TIMEOUT_SECONDS):
            raise DatabaseUnavailable
        try:
            with self.lend() as connection:
                yield connection
        finally:
            self._background.release()

    def close(self) -> None:
        """Close all connections."""
        self._refusal.closed.set()
        self._pool.close()

    def _configure(self, connection: Connection) -> None:
        if connection.is_sharded:
            # Citus chooses shards by the parameters, which a generic plan does not know.
            connection.execute("SET plan_cache_mode = auto")
        # The shortest of several, since this process may be busy.
        for _ in range(_ROUND_TRIPS):
            start = time.perf_counter()
            connection.execute("SELECT")
            self._round_trip_seconds = min(self._round_trip_seconds, time.perf_counter() - start)

    def _note_failure(self, pool: ConnectionPool[Connection]) -> None:
        self._away = True
        self._round_trip_seconds = math.inf

    def _check(self, connection: Connection) -> None:
        # The server sends an idle connection nothing unasked until it ends it. Looking costs no round trip.
        poller = select.poll()
        poller.register(connection.fileno(), select.POLLIN)
        if poller.poll(0):
            connection.close()
            self._round_trip_seconds = math.inf
            # The others ended with it: replace all of them at once.
            self._pool.check()
            raise psycopg.OperationalError("the server has ended the connection")
