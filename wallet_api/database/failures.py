"""The errors of PostgreSQL, translated."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from wallet_api.base.errors import ApiError, ServiceUnavailable

# What no other attempt to connect changes. libpq gives it no SQLSTATE: in another language it is not known.
_REFUSAL = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|permission denied for database"
    r'|(role|database) ".*" does not exist|is not permitted to log in'
)

_REFUSED = (
    "The database refuses the connection: user, password or database is wrong, or not allowed to connect."
)
_DISK_FULL = "The disk of the database is full: free some space, or remove old trades and files."
_READ_ONLY = (
    "The database is read-only: it is a standby, or default_transaction_read_only is set. Check DATABASE_URL."
)


class DatabaseUnavailable(ServiceUnavailable):
    """The database cannot be reached right now. Try again shortly."""


class NotWritable(DatabaseUnavailable):
    """The database cannot store anything right now. Try again shortly."""


class NotPermitted(ApiError):
    """The service lacks a right on the database. The operator finds the reason in the log."""

    advice = "the service needs the rights of the role wallet_api_service: see 'wallet-api config roles'"


class QueryTimeout(ServiceUnavailable):
    """The query took too long. Try again shortly."""


class MissingReference(Exception):
    """A row refers to one that does not exist."""


def had_no_effect(error: Exception) -> bool:
    """Return whether a statement in autocommit that raised `error` has certainly changed nothing.

    It was not sent, or the server refused it. If the connection was lost after sending, the
    outcome is unknown.
    """
    cause = error.__cause__ if isinstance(error, ApiError) else error
    if isinstance(cause, PoolTimeout | PoolClosed):
        return True
    return isinstance(cause, psycopg.Error) and cause.diag.severity_nonlocalized == "ERROR"


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into those of this module."""
    try:
        yield
    except (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable) as error:
        raise QueryTimeout from error
    except psycopg.errors.ForeignKeyViolation as error:
        raise MissingReference from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise NotPermitted from error
    except psycopg.errors.DiskFull as error:
        raise NotWritable(advice=_DISK_FULL) from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise NotWritable(advice=_READ_ONLY) from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(advice=_REFUSED if _REFUSAL.search(str(error)) else "") from error
    except psycopg.errors.InternalError_ as error:
        # Citus, as in version 15.0, reports a lost worker this way.
        if "connection" not in str(error):
            raise
        raise DatabaseUnavailable from error
    except (psycopg.InterfaceError, PoolTimeout) as error:
        raise DatabaseUnavailable from error
