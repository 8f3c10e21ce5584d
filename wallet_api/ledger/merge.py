"""What one batch does to the ledger: the statements, in their order, inside the caller's transaction."""

from datetime import datetime, timedelta
from typing import Any

from wallet_api.database import Connection, load_sql

# Half of a two-part key; any constant will do, as long as every importer takes the same.
LOCK_CLASS = 7_401

# A rollup keeps what its longest window can reach, and some more for clocks that disagree.
POSITION_HORIZON = timedelta(days=32)
VOLUME_HORIZON = timedelta(hours=48)

_STAGING = load_sql(__package__, "staging")
_LOCK = load_sql(__package__, "lock")
_LOCK_ALL = load_sql(__package__, "lock_all")
_TOKENS = load_sql(__package__, "tokens")
_FRESH = load_sql(__package__, "fresh")
_TOUCHED = load_sql(__package__, "touched")
_WALKED = load_sql(__package__, "walked")
_POSITIONS = load_sql(__package__, "positions")
_REPLACED = load_sql(__package__, "replaced")
_TRADES = load_sql(__package__, "trades")
_POSITION_ROLLUP = load_sql(__package__, "position_rollup")
_VOLUME_ROLLUP = load_sql(__package__, "volume_rollup")
_EMPTIED_POSITIONS = load_sql(__package__, "emptied_positions")
_EXPIRED_POSITIONS = load_sql(__package__, "expired_positions")
_EXPIRED_VOLUME = load_sql(__package__, "expired_volume")


def prepare(connection: Connection) -> None:
    """Make the session's staging tables, and let its large sorts stay in memory."""
    connection.execute("SET work_mem = '64MB'; SET jit = off")
    connection.execute(_STAGING)


def lock_all(connection: Connection) -> None:
    """Keep every other import out until the transaction ends."""
    connection.execute(_LOCK_ALL, {"lock_class": LOCK_CLASS})


def merge_incoming(connection: Connection, now: datetime) -> int:
    """Merge the rows of `incoming` into the ledger; how many trades are new or corrected.

    Temporary tables have no statistics until they are analyzed, and the plans depend on them.
    """
    connection.execute("ANALYZE incoming")
    connection.execute(_LOCK, {"lock_class": LOCK_CLASS})
    connection.execute(_TOKENS)
    connection.execute(_FRESH)
    return merge_fresh(connection, now)


def merge_fresh(connection: Connection, now: datetime) -> int:
    """Walk the positions that `fresh` touches, and store what comes out; how many trades were fresh."""
    connection.execute("ANALYZE fresh")
    changed = connection.execute(_TOUCHED).rowcount
    if not changed:
        return 0
    fresh = _one(connection, "SELECT count(*) AS n FROM fresh")
    connection.execute("ANALYZE touched")
    rewalked = _one(connection, "SELECT count(*) AS n FROM touched WHERE rewalk")
    connection.execute(_WALKED)
    connection.execute("ANALYZE walked")
    connection.execute(_POSITIONS)
    if rewalked:
        connection.execute(_REPLACED)
    connection.execute(_TRADES)
    add_to_rollups(connection, now, corrected=rewalked > 0)
    return fresh


def add_to_rollups(connection: Connection, now: datetime, *, corrected: bool) -> None:
    """Bring the rollups from the state before the walk to the state after it, and drop what has expired."""
    connection.execute(_POSITION_ROLLUP, {"horizon": now - POSITION_HORIZON})
    if corrected:
        connection.execute(_EMPTIED_POSITIONS)
    connection.execute(_EXPIRED_POSITIONS, {"horizon": now - POSITION_HORIZON})
    add_to_volume(connection, now, corrected=corrected)


def add_to_volume(connection: Connection, now: datetime, *, corrected: bool = True) -> None:
    """Bring the groups' volume from the state before the walk to the state after it."""
    connection.execute(_VOLUME_ROLLUP, {"horizon": now - VOLUME_HORIZON})
    connection.execute(_EXPIRED_VOLUME, {"horizon": now - VOLUME_HORIZON, "corrected": corrected})


def _one(connection: Connection, statement: Any) -> int:
    row = connection.execute(statement).fetchone()
    assert row is not None
    count: int = row["n"]
    return count
