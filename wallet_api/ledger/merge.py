"""The statements that merge a batch into the ledger, in their order, inside the caller's transaction."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from wallet_api.database import Connection, DuplicateKey, connect, load_sql, savepoint

# The first half of a two-part key: any constant, the same for every import.
LOCK_CLASS = 7_401
# The lock of token_prices: any number that no other lock has.
_PRICES_LOCK = {"lock": 7_401_003}

# A rollup keeps its longest window, and some more for clocks that differ.
POSITION_HORIZON = timedelta(days=32)
VOLUME_HORIZON = timedelta(hours=26)

_STAGING = load_sql(__package__, "staging")
_LOCK = load_sql(__package__, "lock")
_LOCK_WALLET = load_sql(__package__, "lock_wallet")
_LOCK_ALL = load_sql(__package__, "lock_all")
_FIND_REMOVED_WALLETS = load_sql(__package__, "find_removed_wallets")
_KNOWN_POSITIONS = load_sql(__package__, "known_positions")
_TOUCHED = load_sql(__package__, "touched")
_TOUCHED_FRESH = load_sql(__package__, "touched_fresh")
_FRESH = load_sql(__package__, "fresh")
_UNTOUCHED = load_sql(__package__, "untouched")
_KNOWN_TRADES = load_sql(__package__, "known_trades")
_APPENDED = load_sql(__package__, "appended")
_REPLAYED = load_sql(__package__, "replayed")
_WALKED_DAYS = load_sql(__package__, "walked_days")
_POSITIONS = load_sql(__package__, "positions")
_APPENDED_LIFETIMES = load_sql(__package__, "appended_lifetimes")
_REPLAYED_LIFETIMES = load_sql(__package__, "replayed_lifetimes")
_WALLET_DAYS = load_sql(__package__, "wallet_days")
_EMPTIED_WALLET_DAYS = load_sql(__package__, "emptied_wallet_days")
_REPLACED = load_sql(__package__, "replaced")
_APPENDED_TRADES = load_sql(__package__, "appended_trades")
_REPLAYED_TRADES = load_sql(__package__, "replayed_trades")
_POSITION_ROLLUP = load_sql(__package__, "position_rollup")
_VOLUME_ROLLUP = load_sql(__package__, "volume_rollup")
_EMPTIED_POSITION_ROLLUP = load_sql(__package__, "emptied_position_rollup")
_EXPIRED_POSITION_ROLLUP = load_sql(__package__, "expired_position_rollup")
_EXPIRED_VOLUME = load_sql(__package__, "expired_volume")
_TOUCH_POSITIONS = load_sql(__package__, "touch_positions")
_REMOVE_TRADES = load_sql(__package__, "remove_trades")
_REMOVE_KNOWN_TRADES = load_sql(__package__, "remove_known_trades")
_REMOVE_POSITIONS = load_sql(__package__, "remove_positions")
_REMOVE_LIFETIMES = load_sql(__package__, "remove_lifetimes")
_TOUCHED_TOKENS = load_sql(__package__, "touched_tokens")
_TOKEN_PRICES = load_sql(__package__, "token_prices")
_LOCK_PRICES = "SELECT pg_advisory_xact_lock(%(lock)s)"

_ANALYZE_KNOWN_POSITIONS = "ANALYZE known_positions (wallet_id, token_id)"
_ANALYZE_TOUCHED = "ANALYZE touched (wallet_id, token_id, replay)"
_ANALYZE_KNOWN = "ANALYZE known_trades (wallet_id, token_id)"

# A small sample is enough: plans for staging tables depend on their size, and hardly on their contents.
# Every statement has an index on the tables of the ledger, so none of these is to be scanned.
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
    """Create the session's staging tables, and let its large sorts stay in memory."""
    connection.execute(_SESSION)
    connection.execute(_STAGING)


def another_session(connection: Connection) -> Connection:
    """Open another connection to the same database, with staging tables."""
    other = connect(connection.info.dsn, password=connection.info.password or None)
    prepare(other)
    return other


def lock_all(connection: Connection) -> None:
    """Block all other imports until the transaction ends."""
    connection.execute(_LOCK_ALL, {"lock_class": LOCK_CLASS})


def lock_wallet(connection: Connection, wallet_id: int) -> None:
    """Block imports of one wallet until the transaction ends."""
    connection.execute(_LOCK_WALLET, {"lock_class": LOCK_CLASS, "wallet_id": wallet_id})


def before_wallets(connection: Connection) -> None:
    """Let the transaction change wallets: Citus does so only if it takes all shards in turn."""
    connection.execute("SET LOCAL citus.multi_shard_modify_mode = sequential")


def merge_incoming(connection: Connection, now: datetime) -> int:
    """Merge `incoming`, which has no trade twice, into the ledger; return how many are new or corrected.

    Raises WalletRemoved for trades of wallets that are no longer tracked.
    """
    connection.execute("ANALYZE incoming (wallet_id, token_id)")
    connection.execute(_LOCK, {"lock_class": LOCK_CLASS})
    # The ids of the wallets were read before this transaction had the locks.
    removed = [row["wallet_id"] for row in connection.execute(_FIND_REMOVED_WALLETS)]
    if removed:
        raise WalletRemoved(removed)
    # A trade later than all of its position's is inserted as new, without a look-up. If the ledger has it at
    # an earlier time, which this one corrects, its key is a duplicate, and the whole batch is replayed.
    try:
        with savepoint(connection):
            return _merge(connection, now, needs_replay=False)
    except DuplicateKey:
        return _merge(connection, now, needs_replay=True)


def merge_fresh(connection: Connection, now: datetime) -> None:
    """Replay the positions of the `fresh` trades, and store the results."""
    connection.execute("ANALYZE fresh")
    connection.execute(_TOUCHED_FRESH)
    connection.execute(_ANALYZE_TOUCHED)
    _replay(connection)
    _store_positions(connection)
    add_to_rollups(connection, now, corrected=True)
    keep_prices(connection)


def merge_removed(connection: Connection, now: datetime) -> int:
    """Remove the trades of `removed_batch`, and replay their positions; return how many were removed."""
    connection.execute(_TOUCH_POSITIONS)
    connection.execute(_ANALYZE_TOUCHED)
    _read_known(connection)
    connection.execute(_REPLACED)
    removed = connection.execute(_REMOVE_TRADES).rowcount
    connection.execute(_REMOVE_KNOWN_TRADES)
    connection.execute(_REPLAYED)
    connection.execute(_REPLAYED_TRADES)
    connection.execute(_REMOVE_POSITIONS)
    _store_positions(connection)
    connection.execute(_REMOVE_LIFETIMES)
    add_to_rollups(connection, now, corrected=True)
    keep_prices(connection)
    return removed


def _merge(connection: Connection, now: datetime, *, needs_replay: bool) -> int:
    connection.execute(_KNOWN_POSITIONS)
    connection.execute(_ANALYZE_KNOWN_POSITIONS)
    connection.execute(_TOUCHED, {"needs_replay": needs_replay})
    connection.execute(_ANALYZE_TOUCHED)
    changed = connection.execute(_APPENDED).rowcount
    connection.execute(_APPENDED_TRADES)
    late = connection.execute(_FRESH).rowcount
    if late:
        connection.execute(_UNTOUCHED)
        connection.execute("ANALYZE fresh")
        connection.execute(_ANALYZE_TOUCHED)
        _replay(connection)
    if changed or late:
        _store_positions(connection)
        add_to_rollups(connection, now, corrected=late > 0)
        keep_prices(connection)
    return changed + late


def _read_known(connection: Connection) -> None:
    connection.execute(_KNOWN_TRADES)
    connection.execute(_ANALYZE_KNOWN)


def _replay(connection: Connection) -> None:
    _read_known(connection)
    connection.execute(_REPLAYED)
    connection.execute(_REPLACED)
    connection.execute(_REPLAYED_TRADES)


def walk_all(connection: Connection) -> int:
    """Replay the touched positions, which were deleted; return how many trades' results changed."""
    connection.execute(_ANALYZE_TOUCHED)
    _read_known(connection)
    connection.execute(_REPLAYED)
    changed = connection.execute(_REPLAYED_TRADES).rowcount
    _store_positions(connection)
    return changed


def _store_positions(connection: Connection) -> None:
    connection.execute("ANALYZE walked (wallet_id, token_id, created_at, is_last)")
    connection.execute(_WALKED_DAYS)
    connection.execute("ANALYZE walked_days (wallet_id, token_id)")
    connection.execute(_POSITIONS)
    connection.execute(_APPENDED_LIFETIMES)
    connection.execute(_REPLAYED_LIFETIMES)
    connection.execute(_WALLET_DAYS)
    connection.execute(_EMPTIED_WALLET_DAYS)


def add_to_rollups(connection: Connection, now: datetime, *, corrected: bool) -> None:
    """Apply the results of the walk to the rollups, and delete what has expired."""
    horizon = now - POSITION_HORIZON
    add_to_days(connection, horizon)
    if corrected:
        add_to_days(connection, horizon, sign=-1)
        connection.execute(_EMPTIED_POSITION_ROLLUP)
    connection.execute(_EXPIRED_POSITION_ROLLUP, {"horizon": horizon})
    horizon = now - VOLUME_HORIZON
    add_to_volume(connection, horizon)
    drop_volume(connection, horizon, corrected=corrected)


def add_to_days(connection: Connection, horizon: datetime, sign: int = 1) -> None:
    """Add the walked trades after `horizon` of one sign to their positions' days."""
    for is_midnight in (False, True):
        parameters = {"horizon": horizon, "sign": sign, "is_midnight": is_midnight}
        connection.execute(_POSITION_ROLLUP, parameters)


def add_to_volume(connection: Connection, horizon: datetime) -> None:
    """Add the walked trades after `horizon` to their groups' volume."""
    connection.execute(_VOLUME_ROLLUP, {"horizon": horizon})


def drop_volume(connection: Connection, horizon: datetime, *, corrected: bool) -> None:
    """Delete the volume of groups before any window, and buckets that corrections have emptied."""
    connection.execute(_EXPIRED_VOLUME, {"horizon": horizon, "corrected": corrected})


def keep_prices(connection: Connection) -> None:
    """Store the newest trade of each token of the touched positions. To be the last step of a transaction."""
    lock_prices(connection)
    renew_prices(connection, [row["token_id"] for row in connection.execute(_TOUCHED_TOKENS)])


def lock_prices(connection: Connection) -> None:
    """Block other transactions that store newest trades until this one ends, so that they see its trades.

    Take no other lock after it.
    """
    connection.execute(_LOCK_PRICES, _PRICES_LOCK)


def renew_prices(connection: Connection, token_ids: list[int]) -> int:
    """Store the newest trade of each of these tokens; return how many rows have changed.

    The caller holds the lock of `lock_prices`.
    """
    changed: int = connection.fetch_value(_TOKEN_PRICES, {"token_ids": token_ids})
    return changed
