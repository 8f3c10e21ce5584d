"""The rebuild of everything that is derived from the trades, wallet by wallet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from wallet_api.database import Connection, load_statements
from wallet_api.database.migrations import hold_tables
from wallet_api.ledger import arrivals, merge, names, staging

TABLES = (
    *("trades", "positions", "lifetimes", "position_days", "wallet_days", "wallet_hours"),
    *("volume_rollup", "token_days", "wallet_groups", "token_prices", "token_ranks", "token_terms"),
)

# Tokens per transaction, few enough that imports wait for its lock only briefly.
_TOKENS_AT_ONCE = 5_000

# Called with how many wallets are done, and of how many.
Progress = Callable[[int, int], None]

_REBUILD = load_statements(__package__, "rebuild")
_WALLETS = "SELECT wallet_id FROM wallets WHERE wallet_id > %(after)s ORDER BY wallet_id"
_FILLED = "SELECT done_until FROM wallet_fill"
_FILL = "UPDATE wallet_fill SET done_until = GREATEST(done_until, %(wallet_id)s)"
_END_FILL = "UPDATE wallet_fill SET done_until = NULL"
_GROUPS = load_statements(__package__, "wallets")["groups"]


def no_progress(done: int, of: int) -> None:
    """Show no progress."""


def rebuild_ledger(connection: Connection, progress: Progress = no_progress) -> dict[str, int]:
    """Rebuild all derived figures; return how many rows of each table were wrong.

    Each wallet is a transaction under its own lock, so that imports and readers continue.
    """
    changed = dict.fromkeys(TABLES, 0)
    staging.prepare(connection)
    connection.execute(_REBUILD["staging"])
    wallet_ids = _wallet_ids(connection, after=0)
    for done, wallet_id in enumerate(wallet_ids):
        progress(done, len(wallet_ids))
        with arrivals.change(connection):
            for table, rows in _rebuild_wallet(connection, wallet_id).items():
                changed[table] += rows
    with staging.transaction(connection):
        changed["volume_rollup"] = _rebuild_volume(connection, wallet_ids)
        changed["wallet_groups"] = connection.execute(_GROUPS).rowcount
    changed["token_days"] = _rebuild_token_days(connection)
    _rebuild_tokens(connection, changed)
    progress(len(wallet_ids), len(wallet_ids))
    return changed


def fill_wallets(connection: Connection, progress: Progress = no_progress) -> int:
    """Compute what a migration added, and return of how many wallets; 0 if none asks for it.

    As a rebuild, wallet by wallet, which goes on where an interrupted one stopped, and at the end what is of
    tokens. Meanwhile imports of this version add to what is not computed yet: until its wallet is.
    """
    done_until = connection.fetch_value(_FILLED)
    if done_until is None:
        return 0
    staging.prepare(connection)
    connection.execute(_REBUILD["staging"])
    wallet_ids = _wallet_ids(connection, after=done_until)
    for done, wallet_id in enumerate(wallet_ids):
        progress(done, len(wallet_ids))
        with arrivals.change(connection):
            _rebuild_wallet(connection, wallet_id)
            connection.execute(_FILL, {"wallet_id": wallet_id})
    _rebuild_token_days(connection)
    for token_ids in _tokens_in_parts(connection):
        with _holding_tokens(connection):
            names.rename_tokens(connection, token_ids)
    connection.execute(_END_FILL)
    progress(len(wallet_ids), len(wallet_ids))
    return len(wallet_ids)


def _wallet_ids(connection: Connection, after: int) -> list[int]:
    return [row["wallet_id"] for row in connection.execute(_WALLETS, {"after": after})]


def _rebuild_wallet(connection: Connection, wallet_id: int) -> dict[str, int]:
    """Rebuild what is derived from one wallet's trades; return how many rows of each table were wrong."""
    now = datetime.now(UTC)
    parameters = {"wallet_id": wallet_id, **merge.horizon(now)}
    merge.lock_wallets(connection, [wallet_id])
    connection.execute(_REBUILD["keep"], parameters)
    connection.execute(_REBUILD["affected"], parameters)
    changed = {"trades": merge.walk(connection)["trades"]}
    # The sums are deleted already.
    connection.execute("TRUNCATE taken")
    merge.store_totals(connection, now)
    rows = connection.execute(_REBUILD["changed"], parameters)
    return changed | {row["name"]: row["rows"] for row in rows}


def _rebuild_tokens(connection: Connection, changed: dict[str, int]) -> None:
    """Store the newest trade and the names of every token, some per transaction; count the wrong rows."""
    for token_ids in _tokens_in_parts(connection):
        with _holding_tokens(connection):
            changed["token_prices"] += merge.store_prices_of(connection, token_ids)
            ranks, terms = names.rename_tokens(connection, token_ids)
            changed["token_ranks"] += ranks
            changed["token_terms"] += terms


def _tokens_in_parts(connection: Connection) -> Iterator[list[int]]:
    token_ids = [
        row["token_id"] for row in connection.execute("SELECT token_id FROM tokens ORDER BY token_id")
    ]
    for start in range(0, len(token_ids), _TOKENS_AT_ONCE):
        yield token_ids[start : start + _TOKENS_AT_ONCE]


@contextmanager
def _holding_tokens(connection: Connection) -> Iterator[None]:
    """Run a transaction in which no other one stores what it knows of tokens."""
    with staging.transaction(connection):
        hold_tables(connection)
        merge.lock_prices(connection)
        yield


def _rebuild_volume(connection: Connection, wallet_ids: list[int]) -> int:
    now = datetime.now(UTC)
    merge.lock_all(connection)
    connection.execute(_REBUILD["keep_volume"])
    merge.put_recent(connection, wallet_ids, now)
    changed: int = connection.fetch_value(_REBUILD["changed_volume"], {"since": now - merge.VOLUME_WINDOW})
    return changed


def _rebuild_token_days(connection: Connection) -> int:
    """Sum the days of tokens, each in a transaction; return how many rows were wrong."""
    wrong = 0
    for day in connection.execute(_REBUILD["days"]).fetchall():
        with staging.transaction(connection):
            merge.lock_all(connection)
            connection.execute(_REBUILD["wanted_token_days"], day)
            wrong += connection.execute(_REBUILD["needless_token_days"], day).rowcount
            wrong += connection.execute(_REBUILD["wrong_token_days"]).rowcount
    return wrong
