"""The same rows as Parquet files, asked by DuckDB."""

from pathlib import Path
from typing import LiteralString

import duckdb

from wallet_api.database import Connection

_EXPORTS: dict[str, LiteralString] = {
    "trades": (
        "SELECT wallet_id, token_id, created_at, is_sell, token_amount, value, value_usd, tx_signature,"
        "       event_index"
        "  FROM trades"
    ),
    "tokens": "SELECT token_id, mint FROM tokens",
    "wallets": (
        "SELECT wallet_id, blockchain, type, address, name, image_url, twitter, telegram, copytrade_link"
        " FROM wallets"
    ),
}
# Exact, as far as DuckDB's decimals reach.
_AMOUNTS = "{'token_amount': 'DECIMAL(38, 9)', 'value': 'DECIMAL(38, 9)', 'value_usd': 'DECIMAL(38, 9)'}"


def export(connection: Connection, folder: Path) -> duckdb.DuckDBPyConnection:
    """A DuckDB whose `trades`, `tokens` and `wallets` are Parquet files with the rows of ours."""
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    for name, query in _EXPORTS.items():
        csv, parquet = folder / f"{name}.csv", folder / f"{name}.parquet"
        copied = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER)"
        with connection.cursor() as cursor, csv.open("wb") as file, cursor.copy(copied) as copy:
            file.writelines(copy)
        types = f", types = {_AMOUNTS}" if name == "trades" else ""
        database.execute(f"COPY (SELECT * FROM read_csv('{csv}'{types})) TO '{parquet}' (FORMAT parquet)")
        csv.unlink()
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM '{parquet}'")
    return database
