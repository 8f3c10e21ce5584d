"""The pools of connections: one to read, one to write."""

import re
import select
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, LiteralString, Self

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from wallet_api.base.errors import ServiceUnavailable
from wallet_api.database.connection import CONNECT_TIMEOUT_SECONDS, KEEPALIVES, Connection
from wallet_api.database.failures import translated
from wallet_api.database.lists import Row
from wallet_api.settings import Settings

# Longer than psycopg_pool waits before its second attempt to connect.
POOL_TIMEOUT_SECONDS = 1.5
# A charge waits no longer for a row that another session has locked.
LOCK_TIMEOUT_MILLISECONDS = 500
# Besides requests: two threads that refresh boards, two that save balances, one that settles charges or
# refreshes keys, one that settles the use of keys, one that places what killed writers left.
BACKGROUND_CONNECTIONS = 7
# For the response to a statement that the server ended after its timeout.
_MARGIN_SECONDS = 2.0
_PARAMETER = re.compile(r"%\((\w+)\)s")


class _StatementCursor(psycopg.RawCursor[Row]):
    """A cursor for statements with named parameters, each of which is parsed once.

    psycopg's own cursor parses a statement longer than 4,096 characters at each execution.
    """

    def execute(  # type: ignore[override]
        self, query: LiteralString, parameters: Mapping[str, Any] | None = None, **options: Any
    ) -> Self:
        """Execute a statement with parameters such as `%(name)s`."""
        if parameters is None:
            return super().execute(query, **options)
        numbered, names = _number(query)
        return super().execute(numbered, [parameters[name] for name in names], **options)


# There are fewer statements.
@lru_cache(256)
def _number(query: LiteralString) -> tuple[bytes, list[str]]:
    """Return the statement with PostgreSQL's own parameters, `$1` and so on, and their names."""
    names = list(dict.fromkeys(_PARAMETER.findall(query)))
    numbered = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", query)
    return numbered.replace("%%", "%").encode(), names


class _PooledConnection(Connection):
    """A connection that waits no longer for a response than its server may take, and a little.

    A server that is stopped, or whose disk does not respond, ends no statement by itself.
    """

    response_seconds: float | None = None

    def wait(self, gen: PQGen[RV], *arguments: Any, **options: Any) -> RV:
        """Await the end of an operation. Raises OperationalError; then the pool closes the connection."""
        return super().wait(gen, *arguments, **{"timeout": self.response_seconds, **options})


class Database:
    """The pools of one process. Connections are in autocommit: a single statement is a single snapshot.

    Made inside the worker, after the fork, since neither sockets nor the pool's threads survive one.
    """

    def __init__(self, settings: Settings) -> None:
        url = settings.database_url
        if url is None:
            raise ValueError("Database needs settings.database_url")
        # Planning takes longer than running, and always gives the same plan. So does compiling, which a
        # server does by default for what costs most.
        options = (
            f"-c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
            " -c plan_cache_mode=force_generic_plan -c jit=off"
        )
        # Whether read() has no standby to read from.
        self.reads_primary = settings.database_read_url is None
        size = settings.web_threads + BACKGROUND_CONNECTIONS
        make_pool = partial(_make_pool, size, settings.statement_timeout_seconds + _MARGIN_SECONDS)
        self._writes = make_pool(url, f"{options} -c lock_timeout={LOCK_TIMEOUT_MILLISECONDS}")
        self._reads = make_pool(
            settings.database_read_url or url, f"{options} -c default_transaction_read_only=on"
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend a read-only connection. Raises DatabaseUnavailable, QueryTimeout."""
        with translated(), self._reads.connection() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Lend a connection to the primary. Raises DatabaseUnavailable, QueryTimeout."""
        with translated(), self._writes.connection() as connection:
            yield connection

    def primary_fault(self) -> str | None:
        """Return why the primary accepts no writes, "away" or "read-only"; None if it does."""
        try:
            with self.write() as connection:
                return None if connection.fetch_value("SHOW transaction_read_only") == "off" else "read-only"
        except ServiceUnavailable:
            return "away"

    def close(self) -> None:
        """Close all connections; the pools cannot be used again."""
        self._reads.close()
        self._writes.close()


def _make_pool(
    size: int, response_seconds: float, url: str, options: str
) -> ConnectionPool[_PooledConnection]:
    def configure(connection: _PooledConnection) -> None:
        connection.response_seconds = response_seconds
        if connection.is_sharded:
            # Citus chooses shards by the parameters, which a generic plan does not contain.
            connection.execute("SET plan_cache_mode = auto")

    def check(connection: _PooledConnection) -> None:
        if _is_ended(connection):
            connection.close()
            # What ended this one has ended the others. psycopg_pool would find them one at a time, and waits
            # a second before the third.
            pool.drain()
            raise psycopg.OperationalError("the server has ended the connection")

    pool = ConnectionPool(
        url,
        connection_class=_PooledConnection,
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "cursor_factory": _StatementCursor,
            # There are few statements, and all are repeated.
            "prepare_threshold": 0,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "options": options,
            "application_name": "wallet-api",
            **KEEPALIVES,
        },
        min_size=1,
        max_size=size,
        # No max_waiting, since psycopg_pool also counts those that have timed out. The bulkhead limits them.
        timeout=POOL_TIMEOUT_SECONDS,
        # Give up at once: the next request connects again, without a growing back-off.
        reconnect_timeout=0.2,
        configure=configure,
        check=check,
        open=True,
    )
    return pool


def _is_ended(connection: Connection) -> bool:
    # An idle connection becomes readable only when the server has ended it. This check costs no round trip;
    # that of ConnectionPool.check_connection costs a twenty-fifth of ordinary traffic.
    poller = select.poll()
    poller.register(connection.fileno(), select.POLLIN)
    return bool(poller.poll(0))
