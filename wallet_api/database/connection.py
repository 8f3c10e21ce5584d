"""Connections to PostgreSQL, to a single server or to a Citus cluster."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row, tuple_row

from wallet_api.database.failures import translated

__all__ = ["Connection", "Row", "connect", "tuple_row"]

Row = dict[str, Any]

# The minimum of libpq; shorter than the retransmission to a host that drops packets.
CONNECT_TIMEOUT_SECONDS = 2


class Connection(psycopg.Connection[Row]):
    """A psycopg connection, to a single server or to a Citus cluster."""

    @cached_property
    def is_sharded(self) -> bool:
        """Whether this is the database of a Citus cluster."""
        return self.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is not None

    def fetch_value(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Any:
        """Execute a query, and return the first column of its first row; None without rows."""
        row = self.execute(query, parameters).fetchone()
        return None if row is None else next(iter(row.values()))


def connect(url: str, **options: Any) -> Connection:
    """Connect outside the pools, for commands that run long: autocommit, no statement timeout.

    Raises DatabaseUnavailable.
    """
    defaults: dict[str, Any] = {
        "application_name": "wallet-api command",
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    }
    with translated():
        return Connection.connect(url, autocommit=True, row_factory=dict_row, **defaults | options)
