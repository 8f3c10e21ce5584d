"""The fill: what a migration has added is computed for the trades that the ledger has already."""

import time
from collections.abc import Callable
from typing import Any, LiteralString

from wallet_api.database import Connection, load_sql
from wallet_api.ledger import merge
from wallet_api.ledger.rebuild import prepare, rebuild_wallet

# Called with how many wallets are done, and of how many.
Progress = Callable[[int, int], None]

# Any constant, the same for every fill.
_LOCK = {"lock": 7_401_002}
_RETRY_SECONDS = 1.0

_PENDING = load_sql(__package__, "pending_fills")
_UNFILLED = load_sql(__package__, "unfilled_wallets")

_TRY_LOCK = "SELECT pg_try_advisory_lock(%(lock)s) AS found"
_HAS_INDEX = """
SELECT EXISTS (SELECT FROM pg_index
                WHERE indexrelid = to_regclass('public.positions_by_token')
                  AND indisvalid) AS found
"""
_DROP_INDEX = "DROP INDEX CONCURRENTLY IF EXISTS positions_by_token"
_CREATE_INDEX = "CREATE INDEX CONCURRENTLY positions_by_token ON positions (token_id)"
_VALIDATE = "ALTER TABLE trades VALIDATE CONSTRAINT trades_have_holding"
_FINISH = "DELETE FROM pending_fills"


def is_filled(connection: Connection) -> bool:
    """Return whether nothing is to be filled."""
    return connection.execute(_PENDING).fetchone() is None


def fill_ledger(connection: Connection, progress: Progress = lambda done, of: None) -> int:
    """Fill what migrations have added, and return how many wallets were filled now.

    One wallet a transaction, under its lock, so that imports and readers continue. After an interruption the
    next fill continues with the wallets that are left. Two fills run one after the other.
    """
    if is_filled(connection):
        return 0
    with merge.another_session(connection) as session:
        # To wait in a statement would keep the first fill waiting, whose index waits for all transactions.
        # The end of the session releases the lock.
        while not _found(session, _TRY_LOCK, _LOCK):
            time.sleep(_RETRY_SECONDS)
        return _fill(session, progress)


def _fill(session: Connection, progress: Progress) -> int:
    if not _found(session, _HAS_INDEX):
        # An interrupted one is there, but invalid.
        session.execute(_DROP_INDEX)
        session.execute(_CREATE_INDEX)
    prepare(session)
    wallet_ids = [row["wallet_id"] for row in session.execute(_UNFILLED)]
    for done, wallet_id in enumerate(wallet_ids):
        progress(done, len(wallet_ids))
        with session.transaction():
            rebuild_wallet(session, wallet_id)
    session.execute(_VALIDATE)
    session.execute(_FINISH)
    progress(len(wallet_ids), len(wallet_ids))
    return len(wallet_ids)


def _found(
    connection: Connection, statement: LiteralString, parameters: dict[str, Any] | None = None
) -> bool:
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    found: bool = row["found"]
    return found
