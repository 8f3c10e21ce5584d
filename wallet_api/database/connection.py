"""Connections to PostgreSQL, to a single server or to a Citus cluster."""

import os
import socket
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row, tuple_row
from psycopg.types.string import TextLoader

from wallet_api.database.failures import translated
from wallet_api.database.lists import Columns, Lists, Row, columns_from

__all__ = ["KEEPALIVES", "Connection", "connect", "tuple_row"]

# The minimum of libpq; shorter than the retransmission to a host that drops packets.
CONNECT_TIMEOUT_SECONDS = 2
# A server that disappeared is detected after about ten seconds; Unix sockets ignore these options.
KEEPALIVES = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class Connection(psycopg.Connection[Row]):
    """A psycopg connection, to a single server or to a Citus cluster."""

    @cached_property
    def is_sharded(self) -> bool:
        """Whether this is the database of a Citus cluster."""
        return self.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is not None

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The columns of each query of lists, which take longer to read than the values of a short one."""
        return {}

    def fetch_row(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Row:
        """Execute a query that returns a row in any case, and return it."""
        row = self.execute(query, parameters).fetchone()
        assert row is not None
        return row

    def fetch_value(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Any:
        """Execute a query, and return the first column of its first row; None without rows."""
        row = self.execute(query, parameters).fetchone()
        return None if row is None else next(iter(row.values()))

    def fetch_columns(self, query: LiteralString, parameters: Mapping[str, Any]) -> Columns:
        """Execute a query, and return the columns of its rows. All numerics are texts, as in fetch_lists."""
        names, rows = self._fetch_texts(query, parameters)
        return columns_from(names, rows)

    def fetch_lists(
        self, query: LiteralString, parameters: Mapping[str, Any], absent: Exception | None = None
    ) -> Lists:
        """Execute a query of lists side by side, and return its head, and the columns of each list.

        Each begins with a column `place`, the number of a row within it: a row of the result has the rows of
        one place, NULL where a list is shorter, and its order does not matter. What comes before the first
        list is the head, of a single row with a place of its own; without any row `absent` is raised. All
        numerics are texts, as PostgreSQL writes them.
        """
        names, rows = self._fetch_texts(query, parameters)
        if not rows:
            raise absent or AssertionError("a query of lists returned no row")
        starts = [start for start, name in enumerate(names) if start and name == "place"] + [len(names)]
        lists = []
        for start, end in pairwise(starts):
            # Of its own rows and columns alone: the others are NULL.
            own = sorted((row for row in rows if row[start] is not None), key=itemgetter(start))
            lists.append(columns_from(names[start + 1 : end], [row[start + 1 : end] for row in own]))
        head = next(row for row in rows if row[0] is not None)
        return dict(zip(names[: starts[0]], head, strict=False)), lists

    def _fetch_texts(
        self, query: LiteralString, parameters: Mapping[str, Any]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self.cursor(row_factory=tuple_row)
        cursor.adapters.register_loader("numeric", TextLoader)
        rows = cursor.execute(query, parameters).fetchall()
        names = self._names.get(query)
        if names is None:
            names = self._names[query] = [column.name for column in cursor.description or ()]
        return names, rows


def connect(url: str, *, sole: str | None = None, **options: Any) -> Connection:
    """Connect outside the pools, for commands that run long: autocommit, no statement timeout.

    The name of a `sole` session shows an operator which process holds a lock. Raises DatabaseUnavailable.
    """
    name = "command" if sole is None else f"{sole} pid {os.getpid()} on {socket.gethostname()}"
    defaults: dict[str, Any] = {
        # More than 63 bytes PostgreSQL would cut with a notice.
        "application_name": f"wallet-api {name}"[:63],
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    }
    with translated():
        return Connection.connect(url, autocommit=True, row_factory=dict_row, **defaults | options)
