"""Plans for any arguments, as the service has them, in a ledger of many wallets with few trades each."""

import re
from collections.abc import Iterator
from typing import Any, LiteralString

from tests.integration.test_sql_files import QUERIES, name_of, statements_of
from wallet_api.database import Connection

WALLETS, TOKENS = 2_000, 8_009
# The tables with rows of wallets, and how many each wallet has there.
ROWS = {
    "wallet_hours": 10,
    "wallet_days": 5,
    "position_days": 20,
    "positions": 20,
    "lifetimes": 1,
    "trades": 20,
}
HISTORIES = ROWS.keys() - {"lifetimes"}
# What plans depend on; the other columns have one value each.
VALUES = {
    "wallet_id": f"1 + number % {WALLETS}",
    "token_id": f"1 + number % {TOKENS}",
    "day": f"current_date - (number / {WALLETS})::integer",
    "starts_at": f"date_trunc('hour', now()) - number / {WALLETS} * interval '1 hour'",
    "created_at": f"now() - number / {WALLETS} * interval '1 hour'",
    "blockchain": "'solana'",
    "type": "'kol'",
    "arrival": "4096 + number",
}
OF_TYPE = {"text": "''", "boolean": "FALSE", "timestamp with time zone": "now()", "date": "current_date"}
FOUND = re.compile(r"\b(wallet_id|token_id|arrival) [=<>]")
DAYS = re.compile(r"\bday >= .*\bday < ")
COLUMNS = """
SELECT attname AS name, atttypid::regtype::text AS type
  FROM pg_attribute
 WHERE attrelid = %(table)s::regclass AND attnum > 0 AND attnotnull AND attgenerated = ''
"""


def fill(connection: Connection, table: str, rows: int) -> None:
    """Insert made rows into a table."""
    columns = {row["name"]: row["type"] for row in connection.execute(COLUMNS, {"table": table})}
    values = [VALUES.get(name) or OF_TYPE.get(kind, "1") for name, kind in columns.items()]
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM generate_series(0, {rows} - 1) AS number".encode()
    )


def generic_plan(connection: Connection, statement: LiteralString) -> Iterator[dict[str, Any]]:
    """The nodes of PostgreSQL's plan of a statement for any parameters."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
    connection.execute(f"PREPARE question AS {numbered.replace('%%', '%')}".encode())
    arguments = f"({', '.join(['NULL'] * len(names))})" if names else ""
    (row,) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE question {arguments}".encode()).fetchall()
    connection.execute("DEALLOCATE question")
    nodes = [row["QUERY PLAN"][0]["Plan"]]
    while nodes:
        node = nodes.pop()
        yield node
        nodes += node.get("Plans", [])


def test_a_statement_reads_rows_of_wallets_by_wallet_or_token(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO wallets (wallet_id, blockchain, type, address, name, image_url, twitter, telegram,"
        " copytrade_link) SELECT n, 'solana', CASE WHEN n %% 2 = 0 THEN 'kol' ELSE 'smart' END, 'w' || n,"
        " '', '', '', '', '' FROM generate_series(1, %(wallets)s) AS n",
        {"wallets": WALLETS},
    )
    for table, rows in ROWS.items():
        fill(connection, table, rows * WALLETS)
    connection.execute("ANALYZE")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute("SET jit = off")
    for file in QUERIES:
        (statement,) = statements_of(file).values()
        for scan in generic_plan(connection, statement):
            # Of lifetimes a wallet has one; a bitmap has its condition in a node below.
            if scan.get("Relation Name") in HISTORIES and scan["Node Type"] != "Bitmap Heap Scan":
                condition = scan.get("Index Cond", "")
                assert FOUND.search(condition), f"{name_of(file)}: {scan}"
                # Of years of days only those of the window.
                if scan["Relation Name"] in ("position_days", "wallet_days") and "%(first_day)s" in statement:
                    assert DAYS.search(condition), f"{name_of(file)}: {scan}"
