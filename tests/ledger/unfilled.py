"""A ledger as an upgrade finds it."""

from wallet_api.database import Connection


def unfill(connection: Connection) -> None:
    """Leave the ledger as 0007, and those after it, find that of an earlier version."""
    unfill_prices(connection)
    unfill_positions(connection)
    with connection.transaction():
        for statement in (
            "ALTER TABLE trades DROP CONSTRAINT trades_have_holding",
            "UPDATE trades SET quantity_after = NULL, peak_after = NULL",
            "ALTER TABLE trades ADD CONSTRAINT trades_have_holding"
            " CHECK (quantity_after IS NOT NULL AND peak_after IS NOT NULL) NOT VALID",
            "UPDATE lifetimes SET blockchain = NULL, type = NULL, last_seen = NULL",
            "DELETE FROM wallet_days",
            "DROP INDEX positions_by_token",
            "INSERT INTO pending_fills (name) VALUES ('0007_days_and_holdings')",
        ):
            connection.execute(statement)


def unfill_prices(connection: Connection) -> None:
    """Leave the ledger as 0008 finds that of an earlier version."""
    with connection.transaction():
        for statement in (
            "DELETE FROM token_prices",
            "DROP INDEX trades_by_token",
            "INSERT INTO pending_fills (name) VALUES ('0008_token_prices')",
        ):
            connection.execute(statement)


def unfill_positions(connection: Connection) -> None:
    """Leave the ledger as 0009 finds that of an earlier version."""
    columns = (
        *("bought_tokens", "sold_tokens", "invested_usd", "sold_usd", "invested_without_usd"),
        *("sold_without_usd", "realized_usd", "first_buy"),
        *("buys_without_usd", "sells_without_usd", "covered_without_usd"),
    )
    emptied = ", ".join(f"{column} = NULL" for column in columns)
    with connection.transaction():
        for statement in (
            "ALTER TABLE positions DROP CONSTRAINT positions_have_totals",
            f"UPDATE positions SET {emptied}",
            "ALTER TABLE positions ADD CONSTRAINT positions_have_totals"
            " CHECK (bought_tokens IS NOT NULL) NOT VALID",
            "INSERT INTO pending_fills (name) VALUES ('0009_totals_of_positions')",
        ):
            connection.execute(statement)
