"""The placement of the tables on the workers of a Citus cluster."""

import re

from wallet_api.database import Connection, load_sql

_PLACEMENT = load_sql("wallet_api.migrations", "citus")
_RUN_ON_SHARD = load_sql("wallet_api.migrations", "run_on_shard")
_EACH_SHARD = load_sql("wallet_api.migrations", "each_shard")
_MARKED = "SELECT wallet_id FROM wallet_api_shards.each_shard"
_DELEGATE = """
SELECT create_distributed_function(
           'wallet_api_shards.run_on_shard(bigint, text, text[])', 'wallet_id', colocate_with => 'trades')
"""
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
    _let_run_on_shards(connection)
    return missing


def _let_run_on_shards(connection: Connection) -> None:
    connection.execute(_RUN_ON_SHARD)
    connection.execute(_DELEGATE)
    marked = [row["wallet_id"] for row in connection.execute(_MARKED)]
    connection.execute(_EACH_SHARD, {"marked": marked})
