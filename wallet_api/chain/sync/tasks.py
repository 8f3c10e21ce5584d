"""The tasks of a round: which wallets are fetched together, and the time from which on.

A thread of the `pool` fetches the next chunk of a task. When the `importer` has imported it, the task saves
how far its wallets are synced.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.trades.source import Block, Chunk, Listed, TradeSource
from wallet_api.chain.sync.finality import read_blocks
from wallet_api.database import Connection, MissingReference, Row, load_statements, translated
from wallet_api.ledger.merge import lock_wallets

# The interval of the longer fetches, since a provider's index may be late by hours.
_RECHECK = timedelta(days=1)
# Wallets whose fetches start within this time read the same blocks: reading an hour again costs less than
# reading all blocks once more.
_TOGETHER = timedelta(hours=1)
# Those that are further behind do not join the wallets that are read with their chain, which would wait.
_NEAR = timedelta(minutes=1)
# Each repetition leaves out a wallet that was removed meanwhile.
_SAVE_TRIES = 5

# The outcomes of wallets that did not fail.
SYNCED = "synced"
BEHIND = "behind"
REMOVED = "removed"

_TASKS = load_statements(__package__, "tasks")


@dataclass(frozen=True, slots=True)
class Range:
    """A wallet to fetch from `start` on, so that all its trades since `complete_from` are imported.

    `is_recheck` is true if the fetch goes further back than the usual overlap. The wallet has been read until
    `synced_until`. Trades after `new_after` are new if the ledger does not have them, also those of which a
    provider was late; none is before the first fetch has ended. `is_with_chain` is whether the wallet has
    been read as far as its chain.
    """

    wallet: TrackedWallet
    start: datetime
    complete_from: datetime
    is_recheck: bool
    synced_until: datetime | None
    new_after: datetime | None
    is_with_chain: bool = False


Save = Callable[[Connection, "Task", datetime | None, str | None], Container[int]]
"""Save until when a task is imported, or how it failed, and return the wallets that are still tracked."""


@dataclass(slots=True)
class Task:
    """What a thread fetches, chunk by chunk, of some wallets of a chain: one, or those that share blocks.

    `read` begins the fetch, and `save` keeps how far it is. `known` are blocks that were read. The fetch
    began at `began`. `outcome` is SYNCED, BEHIND if the next round continues the wallets, or a failure.
    `removed` are wallets that were removed meanwhile. The requests of an urgent task go before others.
    """

    chain: str
    ranges: list[Range]
    read: Callable[[], Iterator[Chunk]]
    save: Save
    known: Sequence[Block] = ()
    began: datetime | None = None
    outcome: str | None = None
    detail: str = ""
    removed: list[TrackedWallet] = field(default_factory=list)
    is_urgent: bool = False
    _chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))

    @property
    def wallets(self) -> list[TrackedWallet]:
        """Return the wallets."""
        return [each.wallet for each in self.ranges]

    def next_chunk(self) -> Chunk:
        """Fetch the next chunk. Raise ProviderFault."""
        if self.began is None:
            self.began = datetime.now(UTC)
            self._chunks = iter(self.read())
        return next(self._chunks)

    def seconds(self) -> float:
        """Return for how long the wallets have been fetched."""
        return 0.0 if self.began is None else (datetime.now(UTC) - self.began).total_seconds()

    def land(self, connection: Connection, chunk: Chunk) -> None:
        """Save that the trades of this chunk are imported. Wallets that were removed leave the task."""
        tracked = self.save(connection, self, chunk.until or self.began, None)
        self.removed += [wallet for wallet in self.wallets if wallet.wallet_id not in tracked]
        self.ranges = [each for each in self.ranges if each.wallet.wallet_id in tracked]

    def fail(self, connection: Connection, failure: str, detail: str = "") -> None:
        """Save that the wallets failed, and how."""
        self.outcome, self.detail = failure, detail
        self.save(connection, self, None, failure)


def _save_chain(
    connection: Connection, task: Task, synced_until: datetime | None, failure: str | None
) -> set[int]:
    """Save how far the wallets are read that are read with their chain, and those that join them.

    How far is one row of the chain, so that a round every few seconds writes nothing for each wallet.
    """
    joining = [each for each in task.ranges if not each.is_with_chain]
    parameters = {"blockchain": task.chain, "synced_until": synced_until, "tried_at": task.began}
    with connection.transaction():
        statement = _TASKS["fail" if synced_until is None else "move"]
        connection.execute(statement, parameters | {"failure": failure})
        joined = _save_wallets(connection, task, synced_until, failure, joining)
        if joined and synced_until is not None:
            connection.execute(_TASKS["join"], {"wallet_ids": list(joined)})
    if synced_until is not None:
        task.ranges = [
            replace(each, is_with_chain=each.is_with_chain or each.wallet.wallet_id in joined)
            for each in task.ranges
        ]
    wallet_ids = {"wallet_ids": [wallet.wallet_id for wallet in task.wallets]}
    return {row["wallet_id"] for row in connection.execute(_TASKS["tracked"], wallet_ids)}


def _save_wallets(
    connection: Connection,
    task: Task,
    synced_until: datetime | None,
    failure: str | None,
    some: Sequence[Range] | None = None,
) -> set[int]:
    """Save how far each wallet of a task is read, or of some of its ranges."""
    ranges = task.ranges if some is None else some
    parameters: dict[str, Any] = {
        "wallet_ids": [each.wallet.wallet_id for each in ranges],
        "synced_from": [None if synced_until is None else each.complete_from for each in ranges],
        # After an interruption the next fetch continues from the end of the chunk.
        "rechecked_at": [synced_until if each.is_recheck else None for each in ranges],
        **{"synced_until": synced_until, "failure": failure, "tried_at": task.began},
    }
    # A wallet that is removed at the same time has no state.
    for _ in range(_SAVE_TRIES if ranges else 0):
        with suppress(MissingReference), translated(), connection.transaction():
            # Those that remove wallets have the same locks.
            lock_wallets(connection, parameters["wallet_ids"])
            return {row["wallet_id"] for row in connection.execute(_TASKS["save"], parameters)}
    return set()


def tracked_rows(connection: Connection, chains: Sequence[str]) -> list[Row]:
    """Return the tracked wallets of the chains, and how far each is synced.

    New ones come first, then those tried longest ago.
    """
    return connection.execute(_TASKS["due"], {"blockchains": list(chains)}).fetchall()


def wallet_tasks(
    source: TradeSource,
    rows: Sequence[Row],
    since: datetime,
    overlap: timedelta,
    again: Mapping[int, Sequence[Listed]],
) -> list[Task]:
    """Return a task for each tracked wallet; `again` are by wallet the transactions to read again."""
    return [_task(source, [_range(row, since, overlap)], again) for row in rows]


def block_tasks(
    connection: Connection,
    source: TradeSource,
    rows: Sequence[Row],
    since: datetime,
    again: Mapping[int, Sequence[Listed]],
) -> list[Task]:
    """Return the tasks for tracked wallets of a chain, each with all wallets that read the same blocks.

    First comes that of the chain, with the wallets that are up to date, then those of wallets that are
    further behind, an hour together. `again` are by wallet the transactions to read again.
    """
    ranges = sorted((_block_range(row, since) for row in rows), key=lambda each: each.start, reverse=True)
    if not ranges:
        return []
    chain = ranges[0].wallet.chain.name
    # Those to read again from an earlier time are no longer read with their chain.
    kept = {each.wallet.wallet_id for each in ranges if each.is_with_chain}
    leaving = {row["wallet_id"] for row in rows if row["is_with_chain"]} - kept
    if leaving:
        connection.execute(_TASKS["leave"], {"wallet_ids": list(leaving), "blockchain": chain})
    position = next((each.start for each in ranges if each.is_with_chain), None)
    joins_from = ranges[0].start - _TOGETHER if position is None else position - _NEAR
    first = [each for each in ranges if each.start >= joins_from]
    groups: list[list[Range]] = []
    for each in ranges[len(first) :]:
        if not groups or groups[-1][0].start - each.start > _TOGETHER:
            groups.append([])
        groups[-1].append(each)
    # Others reach the last blocks later.
    of_chain = _task(source, first, again, read_blocks(connection, chain))
    of_chain.save, of_chain.is_urgent = _save_chain, True
    return [of_chain, *(_task(source, group, again) for group in groups)]


def _task(
    source: TradeSource,
    ranges: list[Range],
    again: Mapping[int, Sequence[Listed]],
    known: Sequence[Block] = (),
) -> Task:
    wallets, start = [each.wallet for each in ranges], min(each.start for each in ranges)
    left_out = [one for wallet in wallets for one in again.get(wallet.wallet_id, ())]
    read = partial(source.chunks, wallets, start, left_out, known)
    return Task(wallets[0].chain.name, ranges, read, _save_wallets, known)


def _range(row: Row, since: datetime, overlap: timedelta) -> Range:
    synced_from, synced_until, rechecked_at = row["synced_from"], row["synced_until"], row["rechecked_at"]
    if synced_from is None or since < synced_from:
        return Range(TrackedWallet.from_row(row), since, since, True, synced_until, synced_until)
    is_recheck = rechecked_at is None or datetime.now(UTC) - rechecked_at >= _RECHECK
    start = (rechecked_at or synced_from) if is_recheck else synced_until
    # Not earlier than the first fetch, or the second one would find trades that the first did not.
    start = max(start - overlap, synced_from)
    return Range(TrackedWallet.from_row(row), start, synced_from, is_recheck, synced_until, start)


def _block_range(row: Row, since: datetime) -> Range:
    """Return the range of a wallet whose blocks are read: they have nothing that comes late."""
    wallet, until = TrackedWallet.from_row(row), row["synced_until"]
    if row["synced_from"] is None or since < row["synced_from"]:
        return Range(wallet, since, since, False, until, until)
    return Range(wallet, until, row["synced_from"], False, until, until, row["is_with_chain"])
