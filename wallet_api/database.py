"""Connections to PostgreSQL: a pool that reads and one that writes; the only place that meets psycopg's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from wallet_api.errors import ServiceUnavailable
from wallet_api.settings import Settings

Row = dict[str, Any]
Connection = psycopg.Connection[Row]

CONNECT_TIMEOUT_SECONDS = 3
POOL_TIMEOUT_SECONDS = 2.0


class DatabaseUnavailable(ServiceUnavailable):
    """The database cannot be reached right now. Try again shortly."""


class QueryTimeout(ServiceUnavailable):
    """The answer took too long to make. Try again shortly."""


def load_sql(package: str, name: str) -> LiteralString:
    """The text of `name`.sql beside the modules of `package`: one whole statement."""
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")


class Database:
    """The pools of one process. Connections are in autocommit: a single statement is a single snapshot.

    Made inside the worker, after the fork, since neither sockets nor the pool's threads survive one.
    """

    def __init__(self, settings: Settings) -> None:
        url = settings.database_url
        if url is None:
            raise ValueError("Database needs settings.database_url")
        timeout = f"-c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
        self._writes = _pool(url, timeout, settings.web_threads)
        self._reads = _pool(
            settings.database_read_url or url,
            f"{timeout} -c default_transaction_read_only=on",
            settings.web_threads,
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that can change nothing. Raises DatabaseUnavailable, QueryTimeout."""
        with translated(), self._reads.connection() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection to the primary. Raises DatabaseUnavailable, QueryTimeout."""
        with translated(), self._writes.connection() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections; the pools cannot be used again."""
        self._reads.close()
        self._writes.close()


class DuplicateKey(Exception):
    """A row to be added has the key of one that is there."""


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """A part of a transaction that is undone alone. Raises DuplicateKey."""
    try:
        with connection.transaction():
            yield
    except psycopg.errors.UniqueViolation as error:
        raise DuplicateKey from error


def connect(url: str, **options: Any) -> Connection:
    """A connection outside the pools, for commands that work long: no statement timeout, autocommit.

    Raises DatabaseUnavailable.
    """
    with translated():
        return psycopg.connect(
            url, autocommit=True, row_factory=dict_row, connect_timeout=CONNECT_TIMEOUT_SECONDS, **options
        )


def _pool(url: str, options: str, size: int) -> ConnectionPool[Connection]:
    # A short reconnect_timeout gives up early on a dead server, so that the next call tries
    # anew at once instead of waiting for the pool's growing back-off after the server is back.
    return ConnectionPool(
        url,
        connection_class=psycopg.Connection[Row],
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "options": options,
            "application_name": "wallet-api",
        },
        min_size=1,
        max_size=size,
        timeout=POOL_TIMEOUT_SECONDS,
        reconnect_timeout=1.0,
        open=True,
    )


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into DatabaseUnavailable or QueryTimeout."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise QueryTimeout from error
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise DatabaseUnavailable from error
