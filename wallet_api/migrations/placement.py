"""The placement of the tables on the workers of a Citus cluster."""

import re

from wallet_api.database import Connection, load_sql

_PLACEMENT = load_sql("wallet_api.migrations", "citus")
_TABLE = re.compile(r"create_(?:reference|distributed)_table\('([\w.]+)'")
_PLACED = """
SELECT table_name::text AS name
  FROM citus_tables
 WHERE citus_table_type IN ('reference', 'distributed')
"""


def place_tables(connection: Connection) -> list[str]:
    """Place the tables that are not placed yet, with their rows, and return their names.

    Without Citus there is nothing to do. Rows are copied: meanwhile a table can be read, but not written.
    """
    if not connection.is_sharded:
        return []
    placed = {row["name"] for row in connection.execute(_PLACED)}
    missing = [name for name in _TABLE.findall(_PLACEMENT) if name not in placed]
    for statement in _PLACEMENT.split(";\n") if missing else ():
        table = _TABLE.search(statement)
        if table is None or table[1] in missing:
            connection.execute(statement)
    return missing
