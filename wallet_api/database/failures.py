"""The errors of PostgreSQL, translated."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from wallet_api.errors import ServiceUnavailable


class DatabaseUnavailable(ServiceUnavailable):
    """The database cannot be reached right now. Try again shortly."""


class QueryTimeout(ServiceUnavailable):
    """The answer took too long to make. Try again shortly."""


class DuplicateKey(Exception):
    """A row with the same key exists."""


class MissingReference(Exception):
    """A row refers to one that does not exist."""


def had_no_effect(error: Exception) -> bool:
    """Return whether a statement in autocommit that failed so has certainly changed nothing.

    It was not sent, or the server refused it. A connection lost after sending leaves that unknown.
    """
    cause = error.__cause__ if isinstance(error, ServiceUnavailable) else error
    if isinstance(cause, PoolTimeout | PoolClosed):
        return True
    return isinstance(cause, psycopg.Error) and cause.diag.severity_nonlocalized == "ERROR"


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into DatabaseUnavailable, QueryTimeout or MissingReference."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise QueryTimeout from error
    except psycopg.errors.ForeignKeyViolation as error:
        raise MissingReference from error
    except (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        # A primary that became a standby under us.
        psycopg.errors.ReadOnlySqlTransaction,
        PoolTimeout,
    ) as error:
        raise DatabaseUnavailable from error
