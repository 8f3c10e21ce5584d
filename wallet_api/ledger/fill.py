"""The fill: compute what migrations have added, for the trades that are already in the ledger."""

import time
from collections.abc import Callable
from typing import LiteralString

from wallet_api.database import Connection, load_sql
from wallet_api.ledger import merge
from wallet_api.ledger.rebuild import Progress, has_index, prepare, rebuild_prices, rebuild_wallet

# Any constant, the same for every fill.
_LOCK = {"lock": 7_401_002}
_RETRY_SECONDS = 1.0

_PENDING = load_sql(__package__, "pending_fills")
_UNFILLED = load_sql(__package__, "unfilled_wallets")

_TRY_LOCK = "SELECT pg_try_advisory_lock(%(lock)s)"
_VALIDATE = "ALTER TABLE trades VALIDATE CONSTRAINT trades_have_holding"
_VALIDATE_POSITIONS = "ALTER TABLE positions VALIDATE CONSTRAINT positions_have_totals"
_COUNT_TOKENS = "SELECT count(*) FROM token_prices"
_FINISH = "DELETE FROM pending_fills WHERE name = %(name)s"


def is_filled(connection: Connection) -> bool:
    """Return whether nothing is to be filled."""
    return connection.execute(_PENDING).fetchone() is None


def fill_ledger(connection: Connection, progress: Progress = lambda done, of: None) -> dict[str, int]:
    """Fill what migrations have added; return how many wallets and tokens were filled now, by these names.

    In short transactions, so that imports and readers continue. After an interruption the next fill continues
    with what is left. Two fills run one after the other. `progress` starts again with each migration.
    """
    if is_filled(connection):
        return {}
    with merge.another_session(connection) as session:
        # Polled: the first fill builds an index, which waits for all running statements, and so for one that
        # waits for this lock. The end of the session releases the lock.
        while not session.fetch_value(_TRY_LOCK, _LOCK):
            time.sleep(_RETRY_SECONDS)
        pending = {row["name"] for row in session.execute(_PENDING)}
        filled: dict[str, int] = {}
        for name, (what, fill) in _FILLS.items():
            if name in pending:
                filled[what] = filled.get(what, 0) + fill(session, progress)
                session.execute(_FINISH, {"name": name})
        return filled


def _fill_wallets(session: Connection, progress: Progress) -> int:
    _build_index(session, "positions_by_token", "positions (token_id)")
    filled = _rebuild_wallets(session, progress)
    session.execute(_VALIDATE)
    return filled


def _fill_positions(session: Connection, progress: Progress) -> int:
    """Rebuild the wallets that an earlier fill has not rebuilt."""
    filled = _rebuild_wallets(session, progress)
    session.execute(_VALIDATE_POSITIONS)
    return filled


def _rebuild_wallets(session: Connection, progress: Progress) -> int:
    """Rebuild each wallet that is left, in a transaction of its own and under its lock."""
    prepare(session)
    wallet_ids = [row["wallet_id"] for row in session.execute(_UNFILLED)]
    for done, wallet_id in enumerate(wallet_ids):
        progress(done, len(wallet_ids))
        with session.transaction():
            rebuild_wallet(session, wallet_id)
    progress(len(wallet_ids), len(wallet_ids))
    return len(wallet_ids)


def _fill_tokens(session: Connection, progress: Progress) -> int:
    """Store the newest trade of every token. Once the index exists, imports do so too."""
    _build_index(session, "trades_by_token", "trades (token_id, created_at)")
    rebuild_prices(session, progress)
    tokens: int = session.fetch_value(_COUNT_TOKENS)
    return tokens


# The migrations that need a fill, in their order; what each fill counts, and its function.
_FILLS: dict[str, tuple[str, Callable[[Connection, Progress], int]]] = {
    "0007_days_and_holdings": ("wallets", _fill_wallets),
    "0008_token_prices": ("tokens", _fill_tokens),
    "0009_totals_of_positions": ("wallets", _fill_positions),
}


def _build_index(session: Connection, name: LiteralString, columns: LiteralString) -> None:
    if not has_index(session, name):
        # An interrupted build leaves an invalid index.
        session.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        session.execute(f"CREATE INDEX CONCURRENTLY {name} ON {columns}")
