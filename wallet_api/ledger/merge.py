"""What one batch does to the ledger: the statements, in their order, inside the caller's transaction."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from wallet_api.database import Connection, DuplicateKey, load_sql, savepoint

# Half of a two-part key; any constant will do, as long as every importer takes the same.
LOCK_CLASS = 7_401

# A rollup keeps what its longest window can reach, and some more for clocks that disagree.
POSITION_HORIZON = timedelta(days=32)
VOLUME_HORIZON = timedelta(hours=26)

_STAGING = load_sql(__package__, "staging")
_LOCK = load_sql(__package__, "lock")
_LOCK_WALLET = load_sql(__package__, "lock_wallet")
_LOCK_ALL = load_sql(__package__, "lock_all")
_FIND_REMOVED_WALLETS = load_sql(__package__, "find_removed_wallets")
_TOUCHED = load_sql(__package__, "touched")
_TOUCHED_AGAIN = load_sql(__package__, "touched_again")
_FRESH = load_sql(__package__, "fresh")
_UNTOUCHED = load_sql(__package__, "untouched")
_WALKED_ON = load_sql(__package__, "walked_on")
_WALKED_AGAIN = load_sql(__package__, "walked_again")
_WALKED_DAYS = load_sql(__package__, "walked_days")
_POSITIONS = load_sql(__package__, "positions")
_LIFETIMES_ON = load_sql(__package__, "lifetimes_on")
_LIFETIMES_AGAIN = load_sql(__package__, "lifetimes_again")
_REPLACED = load_sql(__package__, "replaced")
_TRADES_ON = load_sql(__package__, "trades_on")
_TRADES_AGAIN = load_sql(__package__, "trades_again")
_POSITION_ROLLUP = load_sql(__package__, "position_rollup")
_VOLUME_ROLLUP = load_sql(__package__, "volume_rollup")
_EMPTIED_POSITIONS = load_sql(__package__, "emptied_positions")
_EXPIRED_POSITIONS = load_sql(__package__, "expired_positions")
_EXPIRED_VOLUME = load_sql(__package__, "expired_volume")
_TOUCH_POSITIONS = load_sql(__package__, "touch_positions")
_REMOVE_TRADES = load_sql(__package__, "remove_trades")
_REMOVE_POSITIONS = load_sql(__package__, "remove_positions")
_REMOVE_LIFETIMES = load_sql(__package__, "remove_lifetimes")

_ANALYZE_TOUCHED = "ANALYZE touched (wallet_id, token_id, rewalk)"

# Plans for staging tables depend on their size, hardly on what is in them: a small sample will do. The
# ledger's own tables are large and have keys for all that is asked here: none is ever to be read through.
_SESSION = """
SET work_mem = '64MB'; SET temp_buffers = '64MB'; SET jit = off; SET default_statistics_target = 10;
SET enable_seqscan = off; SET random_page_cost = 1.1
"""


class WalletRemoved(Exception):
    """A wallet of this file was removed while the file was imported. Import it again."""

    def __init__(self, wallet_ids: Iterable[int]) -> None:
        super().__init__(self.__doc__)
        self.wallet_ids = frozenset(wallet_ids)


def prepare(connection: Connection) -> None:
    """Make the session's staging tables, and let its large sorts stay in memory."""
    connection.execute(_SESSION)
    connection.execute(_STAGING)


def lock_all(connection: Connection) -> None:
    """Keep every other import out until the transaction ends."""
    connection.execute(_LOCK_ALL, {"lock_class": LOCK_CLASS})


def lock_wallet(connection: Connection, wallet_id: int) -> None:
    """Keep every other import out of one wallet until the transaction ends."""
    connection.execute(_LOCK_WALLET, {"lock_class": LOCK_CLASS, "wallet_id": wallet_id})


def merge_incoming(connection: Connection, now: datetime) -> int:
    """Merge `incoming`, in which no trade stands twice, into the ledger; how many are new or corrected.

    Raises WalletRemoved for trades of wallets that are no longer tracked.
    """
    connection.execute("ANALYZE incoming (wallet_id, token_id)")
    connection.execute(_LOCK, {"lock_class": LOCK_CLASS})
    # The ids of the wallets were read before the locks were taken.
    removed = [row["wallet_id"] for row in connection.execute(_FIND_REMOVED_WALLETS)]
    if removed:
        raise WalletRemoved(removed)
    # A trade later than all of its position's is taken for new without a look at the ledger. Only when it
    # is there already, at an earlier time that this corrects, its key says so, and the batch is done again.
    try:
        with savepoint(connection):
            return _merge(connection, now, careful=False)
    except DuplicateKey:
        return _merge(connection, now, careful=True)


def merge_fresh(connection: Connection, now: datetime) -> None:
    """Walk the positions of the `fresh` trades again, and store what comes out."""
    connection.execute("ANALYZE fresh")
    connection.execute(_TOUCHED_AGAIN)
    connection.execute(_ANALYZE_TOUCHED)
    _walk_again(connection)
    _store_positions(connection)
    add_to_rollups(connection, now, corrected=True)


def merge_removed(connection: Connection, now: datetime) -> int:
    """Remove the trades of `removed_batch`, and walk their positions again; how many trades were removed."""
    connection.execute(_TOUCH_POSITIONS)
    connection.execute(_ANALYZE_TOUCHED)
    connection.execute(_REPLACED)
    removed = connection.execute(_REMOVE_TRADES).rowcount
    connection.execute(_WALKED_AGAIN)
    connection.execute(_TRADES_AGAIN)
    connection.execute(_REMOVE_POSITIONS)
    _store_positions(connection)
    connection.execute(_REMOVE_LIFETIMES)
    add_to_rollups(connection, now, corrected=True)
    return removed


def _merge(connection: Connection, now: datetime, *, careful: bool) -> int:
    connection.execute(_TOUCHED, {"careful": careful})
    connection.execute(_ANALYZE_TOUCHED)
    changed = connection.execute(_WALKED_ON).rowcount
    connection.execute(_TRADES_ON)
    late = connection.execute(_FRESH).rowcount
    if late:
        connection.execute(_UNTOUCHED)
        connection.execute("ANALYZE fresh")
        connection.execute(_ANALYZE_TOUCHED)
        _walk_again(connection)
    if changed or late:
        _store_positions(connection)
        add_to_rollups(connection, now, corrected=late > 0)
    return changed + late


def _walk_again(connection: Connection) -> None:
    connection.execute(_WALKED_AGAIN)
    connection.execute(_REPLACED)
    connection.execute(_TRADES_AGAIN)


def walk_all(connection: Connection) -> int:
    """Walk the touched positions again, which have been taken away; how many trades came out otherwise."""
    connection.execute(_ANALYZE_TOUCHED)
    connection.execute(_WALKED_AGAIN)
    changed = connection.execute(_TRADES_AGAIN).rowcount
    _store_positions(connection)
    return changed


def _store_positions(connection: Connection) -> None:
    connection.execute("ANALYZE walked (wallet_id, token_id, created_at, is_last)")
    connection.execute(_WALKED_DAYS)
    connection.execute("ANALYZE walked_days (wallet_id, token_id)")
    connection.execute(_POSITIONS)
    connection.execute(_LIFETIMES_ON)
    connection.execute(_LIFETIMES_AGAIN)


def add_to_rollups(connection: Connection, now: datetime, *, corrected: bool) -> None:
    """Bring the rollups from the state before the walk to the state after it, and drop what has expired."""
    horizon = now - POSITION_HORIZON
    add_to_days(connection, horizon)
    if corrected:
        connection.execute(_POSITION_ROLLUP, {"horizon": horizon, "sign": -1})
        connection.execute(_EMPTIED_POSITIONS)
    connection.execute(_EXPIRED_POSITIONS, {"horizon": horizon})
    horizon = now - VOLUME_HORIZON
    add_to_volume(connection, horizon)
    drop_volume(connection, horizon, corrected=corrected)


def add_to_days(connection: Connection, horizon: datetime) -> None:
    """Add the walked trades after `horizon` to their positions' days."""
    connection.execute(_POSITION_ROLLUP, {"horizon": horizon, "sign": 1})


def add_to_volume(connection: Connection, horizon: datetime) -> None:
    """Add the walked trades after `horizon` to their groups' volume."""
    connection.execute(_VOLUME_ROLLUP, {"horizon": horizon})


def drop_volume(connection: Connection, horizon: datetime, *, corrected: bool) -> None:
    """Drop the groups' volume that no window reaches, and what corrections have emptied."""
    connection.execute(_EXPIRED_VOLUME, {"horizon": horizon, "corrected": corrected})
