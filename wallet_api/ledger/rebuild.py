"""The rebuild of everything that is derived from the trades, wallet by wallet."""

from collections.abc import Callable
from datetime import UTC, datetime

from wallet_api.database import Connection, load_sql
from wallet_api.ledger import merge

TABLES = (
    *("trades", "positions", "lifetimes", "position_rollup", "wallet_days"),
    *("volume_rollup", "wallet_groups", "token_prices"),
)

# Tokens per transaction, few enough that imports wait for its lock only briefly.
_TOKENS_AT_ONCE = 5_000

# Called with how many wallets are done, and of how many.
Progress = Callable[[int, int], None]

_STAGING = load_sql(__package__, "rebuild_staging")
_TOUCHED = load_sql(__package__, "rebuild_touched")
_KEEP_POSITIONS = load_sql(__package__, "rebuild_keep_positions")
_KEEP_LIFETIME = load_sql(__package__, "rebuild_keep_lifetime")
_KEEP_DAYS = load_sql(__package__, "rebuild_keep_days")
_KEEP_WALLET_DAYS = load_sql(__package__, "rebuild_keep_wallet_days")
_KEEP_VOLUME = load_sql(__package__, "rebuild_keep_volume")
_CHANGED_POSITIONS = load_sql(__package__, "rebuild_changed_positions")
_CHANGED_LIFETIME = load_sql(__package__, "rebuild_changed_lifetime")
_CHANGED_DAYS = load_sql(__package__, "rebuild_changed_days")
_CHANGED_WALLET_DAYS = load_sql(__package__, "rebuild_changed_wallet_days")
_CHANGED_VOLUME = load_sql(__package__, "rebuild_changed_volume")
_RECENT = load_sql(__package__, "regrouped")
_GROUPS = load_sql(__package__, "groups")


def rebuild_ledger(connection: Connection, progress: Progress = lambda done, of: None) -> dict[str, int]:
    """Rebuild all derived figures; return how many rows of each table were wrong.

    Each wallet is a transaction under its own lock, so that imports and readers continue.
    """
    changed = dict.fromkeys(TABLES, 0)
    merge.prepare(connection)
    connection.execute(_STAGING)
    wallet_ids = [
        row["wallet_id"] for row in connection.execute("SELECT wallet_id FROM wallets ORDER BY wallet_id")
    ]
    for done, wallet_id in enumerate(wallet_ids):
        progress(done, len(wallet_ids))
        with connection.transaction():
            for table, rows in _rebuild_wallet(connection, wallet_id).items():
                changed[table] += rows
    with connection.transaction():
        changed["volume_rollup"] = _rebuild_volume(connection, wallet_ids)
        changed["wallet_groups"] = connection.execute(_GROUPS).rowcount
    changed["token_prices"] = _rebuild_prices(connection)
    progress(len(wallet_ids), len(wallet_ids))
    return changed


def _rebuild_wallet(connection: Connection, wallet_id: int) -> dict[str, int]:
    """Rebuild what is derived from one wallet's trades; return how many rows of each table were wrong."""
    wallet = {"wallet_id": wallet_id}
    horizon = {"horizon": datetime.now(UTC) - merge.POSITION_HORIZON}
    merge.lock_wallet(connection, wallet_id)
    connection.execute(_KEEP_POSITIONS, wallet)
    connection.execute(_KEEP_LIFETIME, wallet)
    connection.execute(_KEEP_DAYS, wallet)
    connection.execute(_KEEP_WALLET_DAYS, wallet)
    connection.execute(_TOUCHED, wallet)
    changed_trades = merge.walk_all(connection)
    merge.add_to_days(connection, horizon["horizon"])
    return {
        "trades": changed_trades,
        "positions": connection.fetch_value(_CHANGED_POSITIONS, wallet),
        "lifetimes": connection.fetch_value(_CHANGED_LIFETIME, wallet),
        "position_rollup": connection.fetch_value(_CHANGED_DAYS, wallet | horizon),
        "wallet_days": connection.fetch_value(_CHANGED_WALLET_DAYS, wallet),
    }


def _rebuild_prices(connection: Connection) -> int:
    """Store the newest trade of every token, some tokens per transaction; return how many rows were wrong."""
    token_ids = [
        row["token_id"] for row in connection.execute("SELECT token_id FROM tokens ORDER BY token_id")
    ]
    changed = 0
    for start in range(0, len(token_ids), _TOKENS_AT_ONCE):
        with connection.transaction():
            merge.lock_prices(connection)
            changed += merge.renew_prices(connection, token_ids[start : start + _TOKENS_AT_ONCE])
    return changed


def _rebuild_volume(connection: Connection, wallet_ids: list[int]) -> int:
    horizon = {"horizon": datetime.now(UTC) - merge.VOLUME_HORIZON}
    merge.lock_all(connection)
    connection.execute(_KEEP_VOLUME)
    connection.execute(_RECENT, {"wallet_ids": wallet_ids, "sign": 1} | horizon)
    merge.add_to_volume(connection, horizon["horizon"])
    changed: int = connection.fetch_value(_CHANGED_VOLUME, horizon)
    return changed
