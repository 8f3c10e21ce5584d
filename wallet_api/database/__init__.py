"""PostgreSQL: connections, pools, and the translation of the driver's errors."""

from wallet_api.database.connection import (
    Connection,
    Row,
    connect,
    edit_sql,
    load_sql,
    savepoint,
    sharded_sql,
)
from wallet_api.database.failures import (
    DatabaseRefused,
    DatabaseUnavailable,
    DuplicateKey,
    MissingReference,
    NotPermitted,
    QueryTimeout,
    had_no_effect,
    translated,
)
from wallet_api.database.place import place_of
from wallet_api.database.pools import Database

__all__ = [
    "Connection",
    "Database",
    "DatabaseRefused",
    "DatabaseUnavailable",
    "DuplicateKey",
    "MissingReference",
    "NotPermitted",
    "QueryTimeout",
    "Row",
    "connect",
    "edit_sql",
    "had_no_effect",
    "load_sql",
    "place_of",
    "savepoint",
    "sharded_sql",
    "translated",
]
