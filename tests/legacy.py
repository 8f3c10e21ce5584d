"""A database of commit d967877, and that version's responses."""

import gzip
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from wallet_api.database import Connection

DATA = Path(__file__).parent / "data" / "d967877"
# The time of the saved responses.
NOW = datetime(2026, 11, 23, 5, tzinfo=UTC)
FILES = ("0001_ledger", "0002_access", "0003_holdings", "0004_sync")


def make_tables(connection: Connection) -> None:
    """Create the tables of d967877, and record its four migrations."""
    connection.execute(
        "CREATE TABLE schema_migrations (name text PRIMARY KEY,"
        " applied_at timestamptz NOT NULL DEFAULT now())"
    )
    for name in FILES:
        _run(connection, (DATA / f"{name}.sql").read_text())
        connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", [name])


def fill(connection: Connection) -> None:
    """Insert the data of a small service of d967877: a ledger, keys, snapshots, sync state."""
    connection.execute("DELETE FROM schema_migrations")
    connection.execute("DELETE FROM credit_ledger")
    _run(connection, gzip.decompress((DATA / "rows.sql.gz").read_bytes()).decode())
    # lifetimes is derived from positions, in d967877 and in the upgrade.
    connection.execute(
        """
        INSERT INTO lifetimes (wallet_id, currency, tokens, still_holding, below_zero, above_zero_to_100,
                               above_100_to_500, above_500, buy_txn, sell_txn, invested, sold, realized,
                               realized_cost, largest_buy, best_trade, worst_trade)
        SELECT wallet_id, min(native_currency(blockchain)), count(*), count(*) FILTER (WHERE still_holding),
               count(*) FILTER (WHERE bucket = 0), count(*) FILTER (WHERE bucket = 1),
               count(*) FILTER (WHERE bucket = 2), count(*) FILTER (WHERE bucket = 3), sum(buy_txn),
               sum(sell_txn), sum(invested), sum(sold), sum(realized), sum(realized_cost), max(largest_buy),
               max(best_trade), min(worst_trade)
          FROM positions JOIN wallets USING (wallet_id)
         GROUP BY wallet_id
        """
    )


def saved_answers() -> list[tuple[list[Any], Any]]:
    """Return requests to d967877 and its responses, with exact numbers."""
    text = gzip.decompress((DATA / "answers.json.gz").read_bytes()).decode()
    return [
        (entry["question"], entry["answer"])
        for entry in json.loads(
            text, object_hook=lambda o: Decimal(o["decimal"]) if o.keys() == {"decimal"} else o
        )
    ]


def _run(connection: Connection, sql: str) -> None:
    # psycopg's types allow only literals as queries.
    connection.execute(sql)  # type: ignore[arg-type]
