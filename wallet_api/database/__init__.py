"""PostgreSQL: connections, pools, and the translation of the driver's errors."""

from wallet_api.database.connection import Connection, Row, connect, load_sql, savepoint
from wallet_api.database.failures import (
    DatabaseUnavailable,
    DuplicateKey,
    MissingReference,
    QueryTimeout,
    had_no_effect,
    translated,
)
from wallet_api.database.place import place_of
from wallet_api.database.pools import Database

__all__ = [
    "Connection",
    "Database",
    "DatabaseUnavailable",
    "DuplicateKey",
    "MissingReference",
    "QueryTimeout",
    "Row",
    "connect",
    "had_no_effect",
    "load_sql",
    "place_of",
    "savepoint",
    "translated",
]
