"""Imports of files: rows are checked, staged with COPY, and merged batch by batch, each in a transaction."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import LiteralString, NamedTuple

from wallet_api.base.forms import BadRow
from wallet_api.database import Connection, load_statements
from wallet_api.ledger import arrivals, merge, names, staging
from wallet_api.ledger.batches import Batch, KnownWallets, Share, incoming_lines, read_batch, seldom_collected
from wallet_api.ledger.files.lines import Record, Reject
from wallet_api.ledger.files.rejects import (
    StagedReject,
    reject_repeats,
    reject_unvalued,
    repeated_rows,
    seen_rows,
)
from wallet_api.ledger.files.rows import PriceRow, RowType, TradeRow, WalletRow, good
from wallet_api.ledger.tokens import Token, TokenIds

# A position or bucket is touched once for many trades, and two batches stay far below the bound of 300 MB.
BATCH_ROWS = 200_000
# The first batch is smaller, since PostgreSQL waits for it; the next ones are up to twice as large each.
FIRST_ROWS = 25_000
LANES = 2
# From this size on, a second connection makes a batch faster.
TWO_LANES_ROWS = 20_000
# Written at once, about 200 kB.
_COPIED_LINES = 1_000

_WALLETS = load_statements(__package__, "wallets")
_PRICES = load_statements(__package__, "prices")
_FROM_DOLLARS = load_statements(__package__, "from_dollars")

_COPY_WALLETS = (
    "COPY incoming_wallets (line_number, line, blockchain, type, address, name, image_url, twitter, telegram,"
    " copytrade_link) FROM STDIN"
)
_COPY_TRADES = (
    "COPY incoming (wallet_id, token_id, tx_signature, is_sell, event_index, created_at, token_amount,"
    " value, keeps_value, token_name, keeps_name, value_usd, keeps_usd, exchanged_value, keeps_exchanged,"
    " block, block_index, line_number) FROM STDIN"
)
_MARK_DERIVED = "UPDATE incoming SET value_derived = TRUE WHERE line_number = ANY(%(line_numbers)s)"
_COPY_PRICES = "COPY incoming_prices (line_number, line, currency, usd, priced_at) FROM STDIN"


@dataclass
class Summary:
    """The result of an import.

    The good rows, how many of them changed something, how many values were computed from dollars, the
    rejected rows, those of denied tokens, which are left out, the quotes that make no price, by reason, and
    warnings.
    """

    landed: int = 0
    changed: int = 0
    derived: int = 0
    rejected: int = 0
    denied: int = 0
    not_used: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


def import_wallets(connection: Connection, records: Iterator[Record[WalletRow]], reject: Reject) -> Summary:
    """Track the wallets of `records`, in one transaction.

    A wallet that is already tracked gets the new type and profile; fields that its rows leave out are kept.
    """
    now = datetime.now(UTC)
    staging.prepare(connection)
    connection.execute(_WALLETS["staging"])
    with arrivals.change(connection):
        summary = _stage(connection, _COPY_WALLETS, records, reject, WalletRow.columns)
        reject_repeated(connection, _WALLETS, ("blockchain", "address"), reject, summary)
        merge.before_wallets(connection)
        merge.lock_all(connection)
        retyped = [row["wallet_id"] for row in connection.execute(_WALLETS["retyped"])]
        if retyped:
            arrivals.record_wallet_removals(connection, retyped, is_retyped=True)
            merge.leave_groups(connection, retyped, now)
        summary.changed = len(connection.execute(_WALLETS["add"]).fetchall())
        connection.execute(_WALLETS["groups"])
        names.rename_wallets(connection)
        if retyped:
            arrivals.forget_wallet_removals(connection, retyped)
            connection.execute(_WALLETS["lifetimes"], {"wallet_ids": retyped})
            merge.join_groups(connection, retyped, now)
    return summary


def import_prices(connection: Connection, records: Iterator[Record[PriceRow]], reject: Reject) -> Summary:
    """Import native prices in one transaction, and value the trades without USD within an hour of them."""
    now = datetime.now(UTC)
    staging.prepare(connection)
    with arrivals.change(connection):
        connection.execute(_PRICES["staging"])
        summary = _stage(connection, _COPY_PRICES, records, reject, lambda price: price.columns(now))
        reject_repeated(connection, _PRICES, ("currency", "priced_at"), reject, summary)
        # Imports of trades read prices under these locks, so that none can miss a price committed here.
        merge.lock_all(connection)
        summary.changed = len(connection.execute(_PRICES["add"]).fetchall())
        span = connection.fetch_row(_PRICES["span"])
        if span["earliest"] is not None:
            rows = connection.execute(_PRICES["fresh"], span).rowcount
            merge.merge_fresh(connection, now, rows)
    return summary


@dataclass(frozen=True, kw_only=True)
class TradeOptions:
    """How trades are imported: `batch_rows` at a time; `progress` is called after each batch.

    `wallet_ids` has the ids of all wallets of the records; without it, all tracked wallets are read. Trades
    in `denied` tokens are left out. The values of the records with the numbers `derived` were computed from
    their dollars. `stop` is called at the end, also after an exception, and has to end a read of records.
    """

    progress: Callable[[], None] = lambda: None
    batch_rows: int = BATCH_ROWS
    wallet_ids: KnownWallets | None = None
    denied: frozenset[Token] = frozenset()
    derived: Sequence[int] = ()
    stop: Callable[[], None] = lambda: None


_DEFAULTS = TradeOptions()


def import_trades(
    connection: Connection,
    records: Iterator[Record[TradeRow]],
    reject: Reject,
    options: TradeOptions = _DEFAULTS,
) -> Summary:
    """Import trades.

    While the next batch is read and checked, PostgreSQL merges the one before: a large one in two halves at
    once, each in a transaction, with all trades of a wallet in one.
    """
    staging.prepare(connection)
    wallet_ids = _read_wallet_ids(connection) if options.wallet_ids is None else options.wallet_ids
    # One thread reads all batches, since memory that one thread frees is not reused by another. The sessions
    # are closed last, when no thread uses them.
    with (
        seldom_collected(),
        ExitStack() as sessions,
        ThreadPoolExecutor(1) as reader,
        ThreadPoolExecutor(LANES) as threads,
        ExitStack() as reading,
    ):
        # The first to end, since the end of the thread is waited for.
        reading.callback(options.stop)
        mergers = _Mergers(connection, sessions, threads, options.derived)
        rows = min(FIRST_ROWS, options.batch_rows)
        pending = reader.submit(read_batch, records, wallet_ids, rows, options.denied)
        while batch := pending.result():
            rows = min(2 * rows, options.batch_rows)
            pending = reader.submit(read_batch, records, wallet_ids, rows, options.denied)
            mergers.add(batch, reject)
            options.progress()
    return mergers.finished()


class _Landed(NamedTuple):
    """How many trades a share has changed, how many values are from dollars, and the rows that it rejects."""

    changed: int
    derived: int
    rejected: list[StagedReject]


class _Mergers:
    """Merge batches, each in as many lanes as it is worth, and sum up what they changed."""

    def __init__(
        self, connection: Connection, sessions: ExitStack, threads: ThreadPoolExecutor, derived: Sequence[int]
    ) -> None:
        self._sessions = sessions
        self._threads = threads
        self._derived = derived
        self._lanes = [connection]
        self._token_ids = TokenIds(connection)
        self._seen = sessions.enter_context(seen_rows())
        self._own_ids = 0
        self._summary = Summary()

    def add(self, batch: Batch, reject: Reject) -> None:
        """Merge a batch."""
        for number, line, fault in batch.rejected:
            reject(number, line, fault)
        while len(self._lanes) < LANES and len(batch) >= TWO_LANES_ROWS:
            self._lanes.append(self._sessions.enter_context(staging.another_session(self._lanes[0])))
        ids = self._token_ids.find(batch.tokens)
        land = partial(self._land, token_ids=ids, has_dollars_alone=batch.has_dollars_alone)
        lanes = zip(self._lanes, batch.shares(len(self._lanes)), strict=True)
        merges = [self._threads.submit(land, lane, share) for lane, share in lanes]
        landed = [merge.result() for merge in merges]
        late = [rejected for each in landed for rejected in each.rejected]
        for rejected in late:
            reject(rejected.number, rejected.line, rejected.fault)
        self._seen.add(batch.marks_without(late))
        summary = self._summary
        summary.changed += sum(each.changed for each in landed)
        summary.derived += sum(each.derived for each in landed)
        summary.landed += batch.rows - len(late)
        summary.rejected += len(batch.rejected) + len(late)
        summary.denied += batch.denied
        self._own_ids += batch.own_ids

    def finished(self) -> Summary:
        """Return the sums, with the warning about ids of the source's own."""
        if self._own_ids:
            self._summary.warnings.append(
                f"the tx_signature of {self._own_ids} rows is no hash of a transaction: it is kept as an id"
                " of the source's own, so that the same trade of another source is another trade"
            )
        return self._summary

    def _land(
        self, lane: Connection, share: Share, token_ids: Mapping[Token, int], *, has_dollars_alone: bool
    ) -> _Landed:
        """Merge a share in a transaction."""
        tokens = {token_ids[token]: token for _, token, _ in share}
        computed = 0
        rejected: list[StagedReject] = []
        with arrivals.change(lane):
            with lane.cursor() as cursor, cursor.copy(_COPY_TRADES) as copy:
                lines = incoming_lines(share, token_ids)
                while block := "".join(islice(lines, _COPIED_LINES)):
                    copy.write(block)
            if self._derived:
                lane.execute(_MARK_DERIVED, {"line_numbers": self._derived})
            wallet_ids = {wallet_id for wallet_id, _, _ in share}
            merge.lock_wallets(lane, wallet_ids)
            # The ids were read before this transaction had the locks.
            merge.check_tracked(lane, wallet_ids)
            if has_dollars_alone:
                computed = merge.run_phase(lane, _FROM_DOLLARS)["priced"]
                rejected = reject_unvalued(lane, tokens)
            changed = merge.compare_incoming(lane, sum(len(trades) for _, _, trades in share))
            if changed and self._seen.are_any:
                repeated = reject_repeats(lane, self._seen, tokens)
                changed -= len(repeated)
                rejected += repeated
            if changed:
                merge.merge_fresh(lane, datetime.now(UTC), changed)
        return _Landed(changed, computed, rejected)


def _stage(
    connection: Connection,
    copy_sql: LiteralString,
    records: Iterator[Record[RowType]],
    reject: Reject,
    columns: Callable[[RowType], tuple[object, ...]],
) -> Summary:
    """Copy the good rows with their line numbers, and count them and the rejected ones."""
    summary = Summary()
    with connection.cursor() as cursor, cursor.copy(copy_sql) as copy:
        for number, line, row in records:
            try:
                copy.write_row((number, line, *columns(good(row))))
                summary.landed += 1
            except BadRow as fault:
                reject(number, line, fault)
                summary.rejected += 1
    return summary


def reject_repeated(
    connection: Connection,
    statements: Mapping[str, LiteralString],
    identity: tuple[str, str],
    reject: Reject,
    summary: Summary,
) -> None:
    """Reject the staged rows that state other values than an earlier row with their identity."""
    line_numbers = []
    rows = connection.execute(statements["repeated"])
    for number, line, fault in repeated_rows(rows, identity):
        reject(number, line, fault)
        line_numbers.append(number)
    if line_numbers:
        connection.execute(statements["reject"], {"line_numbers": line_numbers})
        summary.landed -= len(line_numbers)
        summary.rejected += len(line_numbers)


def _read_wallet_ids(connection: Connection) -> KnownWallets:
    rows = connection.execute("SELECT blockchain, address, wallet_id FROM wallets")
    return {(row["blockchain"], row["address"]): row["wallet_id"] for row in rows}
