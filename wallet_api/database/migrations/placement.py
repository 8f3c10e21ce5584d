"""The placement of the tables on the workers of a Citus cluster."""

import re

from wallet_api.database import Connection, load_sql
from wallet_api.database.migrations import SchemaError

_PLACEMENT = load_sql("wallet_api.database.migrations", "citus")
_TABLE = re.compile(r"create_(?:reference|distributed)_table\('([\w.]+)'")
# With 13.0 on PostgreSQL 15, an import of wallets inserts nothing and reports no error.
_MIN_CITUS = 14
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
_PLACED = """
SELECT table_name::text AS name
  FROM citus_tables
 WHERE citus_table_type IN ('reference', 'distributed')
"""


def place_tables(connection: Connection) -> list[str]:
    """Place the tables that are not placed yet, with their rows, and return their names.

    Without Citus there is nothing to do. Rows are copied: meanwhile a table can be read, but not written.
    Raises SchemaError for a version of Citus that is too old.
    """
    if not connection.is_sharded:
        return []
    version: str = connection.fetch_value(_VERSION)
    if int(version.partition(".")[0]) < _MIN_CITUS:
        raise SchemaError(
            f"This database has Citus {version}, with which imports lose rows. Install Citus {_MIN_CITUS} or"
            " newer, and run: ALTER EXTENSION citus UPDATE"
        )
    placed = {row["name"] for row in connection.execute(_PLACED)}
    missing = [name for name in _TABLE.findall(_PLACEMENT) if name not in placed]
    for statement in _PLACEMENT.split(";\n") if missing else ():
        table = _TABLE.search(statement)
        if table is None or table[1] in missing:
            connection.execute(statement)
    return missing
