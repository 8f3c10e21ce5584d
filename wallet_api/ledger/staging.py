"""The temporary tables of a session that changes the ledger, which are empty between its transactions."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from wallet_api.database import Connection, connect, load_sql

_STAGING = load_sql(__package__, "staging")
_SIZE = """
SELECT sum(pg_relation_size(oid))::bigint
  FROM pg_class
 WHERE relnamespace = pg_my_temp_schema()
   AND relkind = 'r'
"""

_TABLES = re.findall(r"^CREATE TEMP TABLE IF NOT EXISTS (\w+)", _STAGING, re.MULTILINE)
_TRUNCATE = f"TRUNCATE {', '.join(_TABLES)}"
# One statement, since each takes a round trip. The names are those of our own file.
_DELETED = ", ".join(f"{table}_rows AS (DELETE FROM {table})" for table in _TABLES)  # noqa: S608
_DELETE = f"WITH {_DELETED} SELECT"

# From this size on, emptying a table by a new file costs less than marking its rows.
_LARGE_BYTES = 512 * 1024

# A small sample is enough: plans for staging tables depend on their size, and hardly on their contents.
# Every statement has an index on the tables of the ledger, whose pages are mostly in memory: many look-ups
# cost less than a scan. Rows mostly come in the order of their groups: sorting them is fast, while a hash
# table of decimal sums exceeds work_mem.
_SESSION = """
SET work_mem = '64MB'; SET temp_buffers = '64MB'; SET jit = off; SET default_statistics_target = 10;
SET enable_seqscan = off; SET enable_hashagg = off;
SET seq_page_cost = 0.01; SET random_page_cost = 0.01; SET cpu_operator_cost = 0.0002
"""


def prepare(connection: Connection) -> None:
    """Create the session's staging tables, and let its large sorts stay in memory."""
    if connection.fetch_value("SELECT to_regclass('pg_temp.incoming')") is None:
        connection.execute(_SESSION)
        connection.execute(_STAGING)


def another_session(connection: Connection) -> Connection:
    """Open another connection to the same database, with staging tables."""
    other = connect(connection.info.dsn, password=connection.info.password or None)
    prepare(other)
    return other


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Run a transaction, at whose end the tables are empty.

    ON COMMIT DELETE ROWS would truncate each of them, which took half of the time of a single trade.
    """
    with connection.transaction():
        yield
        is_large = connection.fetch_value(_SIZE) > _LARGE_BYTES
        connection.execute(_TRUNCATE if is_large else _DELETE)
