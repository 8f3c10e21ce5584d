"""PostgreSQL: connections, pools, and the translation of the driver's errors."""

from wallet_api.database import locks
from wallet_api.database.connection import KEEPALIVES, Connection, connect, tuple_row
from wallet_api.database.failures import (
    DatabaseUnavailable,
    MissingReference,
    NotPermitted,
    NotWritable,
    QueryTimeout,
    had_no_effect,
    translated,
)
from wallet_api.database.lists import (
    Columns,
    Lists,
    Row,
    columns_from,
    row_count,
    rows_at,
    rows_by,
    rows_of,
    rows_where,
    rows_within,
    shared,
)
from wallet_api.database.location import location_of
from wallet_api.database.pools import Database
from wallet_api.database.statements import load_sql, load_statements

__all__ = [
    "KEEPALIVES",
    "Columns",
    "Connection",
    "Database",
    "DatabaseUnavailable",
    "Lists",
    "MissingReference",
    "NotPermitted",
    "NotWritable",
    "QueryTimeout",
    "Row",
    "columns_from",
    "connect",
    "had_no_effect",
    "load_sql",
    "load_statements",
    "location_of",
    "locks",
    "row_count",
    "rows_at",
    "rows_by",
    "rows_of",
    "rows_where",
    "rows_within",
    "shared",
    "translated",
    "tuple_row",
]
