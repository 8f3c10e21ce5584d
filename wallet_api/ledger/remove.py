"""Stage, count and remove the wallets or trades of a file, with everything derived from them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, LiteralString

from wallet_api.base.chains import ALL_TYPES
from wallet_api.base.forms import BadRow
from wallet_api.database import Connection, load_statements
from wallet_api.database.migrations import hold_tables
from wallet_api.ledger import arrivals, merge, staging
from wallet_api.ledger.arrivals import Purge
from wallet_api.ledger.files.lines import Record, Reject
from wallet_api.ledger.files.rows import TradeIdentity, WalletIdentity, good

# The maximum of trades that one transaction removes, so that imports do not wait long for its locks.
BATCH_ROWS = 200_000
# The maximum of lines in memory, by number and by size.
_READ_ROWS = 10_000
_READ_BYTES = 1 << 23

_REMOVE = load_statements(__package__, "remove")
_REMOVE_WALLETS = load_statements(__package__, "remove_wallets")
_GROUPS = load_statements(__package__, "wallets")["groups"]
_CHAINS = "SELECT DISTINCT blockchain FROM wallet_groups"


@dataclass
class Removal:
    """How many wallets and trades are removed, and how many rows of the file are rejected.

    A removal by time also has how many positions were held then, and how many later sells lose their cost.
    """

    wallets: int = 0
    trades: int = 0
    rejected: int = 0
    open_positions: int | None = None
    later_sells: int | None = None


def begin(connection: Connection) -> None:
    """Let the session stage identities to remove: none is staged."""
    staging.prepare(connection)
    connection.execute(_REMOVE["staging"])
    connection.execute("TRUNCATE wallets_to_remove, trades_to_remove")


def stage_wallets(
    connection: Connection,
    records: Iterator[Record[WalletIdentity]],
    reject: Reject,
    progress: Callable[[], None] = lambda: None,
) -> Removal:
    """Stage the wallets to remove, and count them and their trades. Those not tracked are rejected."""
    known = _REMOVE["stage_wallets"], ("blockchains", "addresses")
    rejected = _stage(connection, records, reject, progress, known)
    connection.execute("ANALYZE wallets_to_remove")
    return _counted(connection, _REMOVE["count_wallets"], rejected)


def stage_trades(
    connection: Connection,
    records: Iterator[Record[TradeIdentity]],
    reject: Reject,
    progress: Callable[[], None] = lambda: None,
) -> Removal:
    """Stage the trades to remove, and count them. Those that the ledger does not have are rejected."""
    names = ("blockchains", "addresses", "signatures", "mints", "sells", "event_indexes")
    rejected = _stage(connection, records, reject, progress, (_REMOVE["stage_trades"], names))
    return replace(staged_trades(connection), rejected=rejected)


def staged_trades(connection: Connection) -> Removal:
    """Return how many trades are staged, and of how many wallets."""
    return _counted(connection, _REMOVE["count_trades"], rejected=0)


def remove_wallets(connection: Connection) -> Removal:
    """Remove the staged wallets with their trades and all that derives from them, in one transaction."""
    removal = Removal()
    with arrivals.change(connection):
        merge.before_wallets(connection)
        merge.lock_all(connection)
        wallet_ids = [
            row["wallet_id"] for row in connection.execute("SELECT wallet_id FROM wallets_to_remove")
        ]
        now = datetime.now(UTC)
        arrivals.record_wallet_removals(connection, wallet_ids, is_retyped=False)
        merge.leave_groups(connection, wallet_ids, now)
        changed = merge.run_phase(connection, _REMOVE_WALLETS, {"wallet_ids": wallet_ids})
        removal.wallets, removal.trades = changed["wallets"], changed["trades"]
        connection.execute(_GROUPS)
        empty = connection.execute(_REMOVE["empty_groups"]).fetchall()
        groups = {f"{name}s": [row[name] for row in empty] for name in ("blockchain", "type")}
        connection.execute(_REMOVE["volume_of_empty_groups"], groups)
        # A chain's wallets of all types are a group of kept signals, too.
        left = {row["blockchain"] for row in connection.execute(_CHAINS)}
        gone = [*{row["blockchain"] for row in empty} - left]
        groups = {
            "blockchains": groups["blockchains"] + gone,
            "types": groups["types"] + [ALL_TYPES] * len(gone),
        }
        connection.execute(_REMOVE["hours_of_empty_groups"], groups)
        merge.store_prices(connection)
    return removal


def remove_trades(
    connection: Connection,
    progress: Callable[[int], None] = lambda removed: None,
    batch_rows: int = BATCH_ROWS,
    purge: Purge | None = None,
) -> Removal:
    """Remove the staged trades, `batch_rows` in a transaction, and walk their positions again.

    Those who follow the feed get each trade, or the `purge` that removed all of them; it also removes what is
    kept of signals. `progress` is called with the number of trades removed by each transaction. `wallets`
    stays 0.
    """
    removal = Removal()
    if purge is not None:
        _purge_signals(connection, purge)
    while True:
        with arrivals.change(connection):
            if not connection.execute(_REMOVE["batch"], {"limit": batch_rows}).rowcount:
                return removal
            connection.execute(_REMOVE["analyze_batch"])
            merge.lock_all(connection)
            connection.execute(_REMOVE["positions_of_batch"])
            removed = merge.merge_affected(connection, datetime.now(UTC), purge=purge)
        removal.trades += removed
        progress(removed)


def _purge_signals(connection: Connection, purge: Purge) -> None:
    """Remove the kept signals of before a time, or of the tokens of the staged trades."""
    which = "of_tokens" if purge.before is None else "before"
    with connection.transaction():
        hold_tables(connection)
        for name in ("hours", "outcomes"):
            connection.execute(_REMOVE[f"{name}_{which}"], {"before": purge.before})


def _stage(
    connection: Connection,
    records: Iterator[Record[Any]],
    reject: Reject,
    progress: Callable[[], None],
    known: tuple[LiteralString, tuple[str, ...]],
) -> int:
    """Stage the identities that are known, and return how many rows were rejected.

    `known` is the statement that stages them, and the names of its columns.
    """
    rejected, (statement, names) = 0, known
    begin(connection)
    for batch in _batches(records):
        faults: list[tuple[int, bytes, BadRow]] = []
        lines: list[tuple[int, bytes]] = []
        keys: list[tuple[Any, ...]] = []
        for number, line, row in batch:
            try:
                keys.append(good(row).key())
                lines.append((number, line))
            except BadRow as fault:
                faults.append((number, line, fault))
        columns = [list(column) for column in zip(*keys, strict=True)] or [[] for _ in names]
        for unknown in connection.execute(statement, dict(zip(names, columns, strict=True))):
            reason = "the wallet has no such trade" if unknown["is_tracked"] else "the wallet is not tracked"
            faults.append((*lines[unknown["place"]], BadRow(reason)))
        for rejection in sorted(faults, key=itemgetter(0)):
            reject(*rejection)
        rejected += len(faults)
        progress()
    return rejected


def _batches(records: Iterator[Record[Any]]) -> Iterator[list[Record[Any]]]:
    batch: list[Record[Any]] = []
    size_bytes = 0
    for record in records:
        batch.append(record)
        size_bytes += len(record[1])
        if len(batch) == _READ_ROWS or size_bytes > _READ_BYTES:
            yield batch
            batch, size_bytes = [], 0
    yield batch


def _counted(connection: Connection, statement: LiteralString, rejected: int) -> Removal:
    row = connection.fetch_row(statement)
    return Removal(row["wallets"], row["trades"], rejected)
