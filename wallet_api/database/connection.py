"""Connections to PostgreSQL outside the pools, and the loading of statements."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from wallet_api.database.failures import DuplicateKey, translated

Row = dict[str, Any]
Connection = psycopg.Connection[Row]

# libpq takes no less; a host that drops packets is tried again before its own retransmission would.
CONNECT_TIMEOUT_SECONDS = 2


def load_sql(package: str, name: str) -> LiteralString:
    """Return the text of `name`.sql beside the modules of `package`, without comments and indentation.

    psycopg parses a statement longer than 4,096 characters at each execution.
    """
    text = resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return "\n".join(line for line in lines if line and not line.startswith("--"))


def connect(url: str, **options: Any) -> Connection:
    """Connect outside the pools, for commands that run long: autocommit, no statement timeout.

    Raises DatabaseUnavailable.
    """
    own: dict[str, Any] = {
        "application_name": "wallet-api command",
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    }
    with translated():
        return psycopg.connect(url, autocommit=True, row_factory=dict_row, **own | options)


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Roll back a part of a transaction alone if it fails. Raises DuplicateKey."""
    try:
        with connection.transaction():
            yield
    except psycopg.errors.UniqueViolation as error:
        raise DuplicateKey from error
