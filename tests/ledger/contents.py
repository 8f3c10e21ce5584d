"""What the tables of the ledger contain, by addresses and mints in place of ids."""

from datetime import datetime, timedelta
from typing import Any, LiteralString

from wallet_api.database import Connection

Row = dict[str, Any]
Contents = dict[str, dict[tuple[Any, ...], Row]]

_OF_WALLET = "JOIN wallets USING (wallet_id)"
_OF_TOKEN = "JOIN tokens USING (token_id)"
_OF_POSITION = f"{_OF_WALLET} {_OF_TOKEN}"
_WALLET = ("blockchain", "address")
_POSITION = (*_WALLET, "mint")

# What each table is joined with, and what identifies one of its rows then.
_TABLES: dict[LiteralString, tuple[LiteralString, LiteralString, tuple[str, ...]]] = {
    "wallets": ("*", "", _WALLET),
    "wallet_groups": ("*", "", ("blockchain", "type")),
    "trades": (
        "wallets.blockchain, wallets.address, tokens.mint, trades.*",
        _OF_POSITION,
        (*_POSITION, "tx_signature", "is_sell", "event_index"),
    ),
    "positions": ("wallets.blockchain, wallets.address, positions.*", _OF_WALLET, _POSITION),
    "lifetimes": ("wallets.blockchain, wallets.address, lifetimes.*", _OF_WALLET, _WALLET),
    "position_days": (
        "wallets.blockchain, wallets.address, tokens.mint, position_days.*",
        _OF_POSITION,
        (*_POSITION, "day"),
    ),
    "wallet_days": ("wallets.blockchain, wallets.address, wallet_days.*", _OF_WALLET, (*_WALLET, "day")),
    "wallet_hours": (
        "wallets.blockchain, wallets.address, wallet_hours.*",
        _OF_WALLET,
        (*_WALLET, "starts_at"),
    ),
    "token_prices": (
        "tokens.blockchain, tokens.mint, token_prices.*",
        _OF_TOKEN,
        ("blockchain", "mint"),
    ),
    "volume_rollup": (
        "COALESCE(tokens.mint, '') AS mint, volume_rollup.*",
        "LEFT JOIN tokens USING (token_id)",
        ("blockchain", "type", "mint", "bucket_seconds", "ends_at"),
    ),
    "token_days": (
        "tokens.blockchain, tokens.mint, token_days.*",
        _OF_TOKEN,
        ("blockchain", "mint", "type", "day"),
    ),
}
# Ids, and what depends on the order of arrival.
_LEFT_OUT = ("wallet_id", "token_id", "arrival", "first_arrival")
# Of wallets that are not tracked there must be nothing.
_BY_WALLET: tuple[LiteralString, ...] = (
    "trades",
    "removals",
    "positions",
    "lifetimes",
    "position_days",
    "wallet_days",
    "wallet_hours",
    "holdings_snapshots",
    "sync_wallets",
)
# How far windows of volume and active hours reach, by this column. What is about to expire contains what an
# earlier moment put there.
_REACH = {
    "volume_rollup": ("ends_at", timedelta(hours=24)),
    "wallet_hours": ("starts_at", timedelta(days=30)),
}


def contents(connection: Connection, now: datetime) -> Contents:
    """The rows of each table that an answer of `now` can reach, by what identifies them."""
    found: Contents = {}
    for table, (columns, joined, key) in _TABLES.items():
        rows = connection.execute(f"SELECT {columns} FROM {table} {joined}").fetchall()
        found[table] = {
            tuple(row[name] for name in key): {
                name: value for name, value in row.items() if name not in _LEFT_OUT
            }
            for row in rows
            if table not in _REACH or row[_REACH[table][0]] > now - _REACH[table][1]
        }
    # A group whose wallets changed their type stays; one that lost them does not.
    found["wallet_groups"] = {key: row for key, row in found["wallet_groups"].items() if row["wallet_count"]}
    return found


def orphans(connection: Connection) -> dict[str, int]:
    """How many rows there are of wallets that are not tracked, by table; tables without are left out."""
    counts = {}
    for table in _BY_WALLET:
        row = connection.execute(
            f"SELECT count(*) AS n FROM {table} WHERE wallet_id NOT IN (SELECT wallet_id FROM wallets)"
        ).fetchone()
        assert row is not None
        counts[table] = row["n"]
    return {table: count for table, count in counts.items() if count}
