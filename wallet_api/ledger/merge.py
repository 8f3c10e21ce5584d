"""Changes of the ledger: positions are taken out, trades are put in, and what derives from them is stored.

Each function runs its statements in the caller's transaction, which holds the locks of the wallets.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, LiteralString

from wallet_api.base.errors import CommandError
from wallet_api.database import Connection, load_sql, load_statements, locks
from wallet_api.database.migrations import hold_tables
from wallet_api.ledger import arrivals, names
from wallet_api.ledger.arrivals import Purge

# Wallets share this many locks, so that a large batch cannot fill the server's lock table.
LOCKS = 64

# A table of sums covers its longest window, and some more for clocks that differ.
WALLET_HOURS = timedelta(days=32)
VOLUME_WINDOW = timedelta(hours=26)

_FRESH = load_statements(__package__, "fresh")
_AFFECTED = load_statements(__package__, "affected")
_TAKE_OUT = load_statements(__package__, "take_out")
_PUT_IN = load_statements(__package__, "put_in")
_TOTALS = load_statements(__package__, "totals")
_REMOVE = load_statements(__package__, "remove")
_VOLUME = load_statements(__package__, "volume")
_GROUP_DAYS = load_statements(__package__, "group_days")
_MOVED = load_statements(__package__, "moved")
_PRICED = load_sql(__package__, "priced")
_TOKEN_PRICES = load_statements(__package__, "token_prices")
_LOCK = "SELECT pg_advisory_xact_lock(%(class)s, lock) FROM unnest(%(locks)s::integer[]) AS lock"
_TRACKED = "SELECT wallet_id FROM wallets WHERE wallet_id = ANY(%(wallet_ids)s)"
_LOCK_PRICES = "SELECT pg_advisory_xact_lock(%(lock)s)"

# From so many rows on, better plans are worth the statistics of a staging table.
_ANALYZED_ROWS = 1_000


class WalletRemoved(CommandError):
    """A wallet of this file was removed while the file was imported. Import it again."""

    def __init__(self, wallet_ids: Iterable[int]) -> None:
        super().__init__(self.__doc__)
        self.wallet_ids = frozenset(wallet_ids)


def run_phase(
    connection: Connection,
    statements: Mapping[str, LiteralString],
    parameters: Mapping[str, Any] | None = None,
    **filled: int,
) -> dict[str, int]:
    """Execute the statements of a file in their order; return how many rows each has changed, by name.

    A statement `analyze_x` is left out if the statement `x` before it has changed few rows; `filled` has the
    rows of tables that earlier files have filled.
    """
    changed = filled
    for name, sql in statements.items():
        table = name.removeprefix("analyze_")
        if name == table or changed.get(table, _ANALYZED_ROWS) >= _ANALYZED_ROWS:
            changed[name] = connection.execute(sql, parameters).rowcount
    return changed


def lock_wallets(connection: Connection, wallet_ids: Iterable[int]) -> None:
    """Block other changes of these wallets until the transaction ends."""
    _lock(connection, {wallet_id % LOCKS for wallet_id in wallet_ids})


def lock_all(connection: Connection) -> None:
    """Block all other changes until the transaction ends."""
    _lock(connection, range(LOCKS))


def _lock(connection: Connection, numbers: Collection[int]) -> None:
    # First, since a migration takes its lock before all others.
    hold_tables(connection)
    # In one order for all sessions, so that they cannot deadlock.
    connection.execute(_LOCK, {"class": locks.WALLETS, "locks": sorted(numbers)})


def before_wallets(connection: Connection) -> None:
    """Let the transaction change wallets: Citus does so only if it takes all shards in turn."""
    connection.execute("SET LOCAL citus.multi_shard_modify_mode = sequential")


def check_tracked(connection: Connection, wallet_ids: Collection[int]) -> None:
    """Raise WalletRemoved if some of these wallets are no longer tracked."""
    rows = connection.execute(_TRACKED, {"wallet_ids": list(wallet_ids)})
    removed = set(wallet_ids).difference(row["wallet_id"] for row in rows)
    if removed:
        raise WalletRemoved(removed)


def compare_incoming(connection: Connection, rows: int) -> int:
    """Put into `fresh` what is new or corrected of the rows of `incoming`, which has no trade twice.

    Return how many these are.
    """
    return run_phase(connection, _FRESH, incoming=rows)["fresh"]


def merge_fresh(connection: Connection, now: datetime, rows: int) -> None:
    """Put the rows of `fresh` into the ledger."""
    late = run_phase(connection, _AFFECTED, fresh=rows)["late"]
    merge_affected(connection, now, has_late=late > 0)


def merge_affected(
    connection: Connection, now: datetime, *, has_late: bool = True, purge: Purge | None = None
) -> int:
    """Take the late positions of `affected` out, and put their trades in, with `fresh` and without `removed`.

    Return how many trades the ledger has less.
    """
    changed = walk(connection, has_late=has_late, purge=purge)
    store_totals(connection, now)
    if has_late:
        connection.execute(_REMOVE["empty_days"])
        connection.execute(_REMOVE["empty_hours"])
    store_volume(connection, now)
    store_group_days(connection)
    store_prices(connection)
    return changed["replaced"] - changed["trades"]


def walk(connection: Connection, *, has_late: bool = True, purge: Purge | None = None) -> dict[str, int]:
    """Walk the `affected` positions and store their trades; return how many were deleted and inserted."""
    if has_late:
        run_phase(connection, _TAKE_OUT)
    first_chunk = arrivals.take_numbers(connection)
    changed = run_phase(connection, _PUT_IN, {"first_chunk": first_chunk})
    arrivals.record(connection, first_chunk, purge)
    return changed


def store_totals(connection: Connection, now: datetime) -> None:
    """Add the walked trades to positions, lifetimes and days, and subtract those that were taken out."""
    run_phase(connection, _TOTALS, horizon(now))


def horizon(now: datetime) -> dict[str, Any]:
    """Return the first hour of wallet_hours, as a parameter."""
    return {"first_hour": (now - WALLET_HOURS).replace(minute=0, second=0, microsecond=0)}


def store_volume(connection: Connection, now: datetime) -> None:
    """Add the walked trades to the volume of their groups, and subtract those that were taken out."""
    run_phase(connection, _VOLUME, {"since": now - VOLUME_WINDOW})


def store_group_days(connection: Connection) -> None:
    """Add the days of `day_sums` to those of tokens in the groups of their wallets."""
    run_phase(connection, _GROUP_DAYS)


def leave_groups(connection: Connection, wallet_ids: list[int], now: datetime) -> None:
    """Subtract what some wallets have in the sums of their groups."""
    connection.execute(_MOVED["taken"], {"wallet_ids": wallet_ids, "since": now - VOLUME_WINDOW})
    store_volume(connection, now)
    _move_days(connection, wallet_ids, -1)
    connection.execute("TRUNCATE taken, day_sums")


def join_groups(connection: Connection, wallet_ids: list[int], now: datetime) -> None:
    """Add what some wallets have to the sums of their groups."""
    put_recent(connection, wallet_ids, now)
    _move_days(connection, wallet_ids, 1)


def put_recent(connection: Connection, wallet_ids: list[int], now: datetime) -> None:
    """Add the trades of some wallets to the volume of their groups."""
    connection.execute(_MOVED["walked"], {"wallet_ids": wallet_ids, "since": now - VOLUME_WINDOW})
    store_volume(connection, now)


def _move_days(connection: Connection, wallet_ids: list[int], sign: int) -> None:
    connection.execute(_MOVED["days"], {"wallet_ids": wallet_ids, "sign": sign})
    store_group_days(connection)


def store_prices(connection: Connection) -> None:
    """Store the newest trade and the names of each token of the affected positions.

    The last step of a transaction.
    """
    lock_prices(connection)
    run_phase(connection, _TOKEN_PRICES, priced=connection.execute(_PRICED).rowcount)
    names.store_names(connection)


def lock_prices(connection: Connection) -> None:
    """Block other transactions that store newest trades until this one ends, so that they see its trades.

    Take no other lock after it.
    """
    connection.execute(_LOCK_PRICES, {"lock": locks.TOKEN_PRICES})


def store_prices_of(connection: Connection, token_ids: list[int]) -> int:
    """Search for the newest trade of each of these tokens; return how many rows have changed.

    The caller holds the lock of `lock_prices`.
    """
    connection.execute("INSERT INTO priced SELECT unnest(%s::bigint[])", [token_ids])
    changed = run_phase(connection, _TOKEN_PRICES)
    return changed["worthless"] + changed["stored"]
