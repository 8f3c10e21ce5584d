"""The jobs of a round: which wallets are fetched together, and the time from which on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, MissingReference, Row, load_sql, translated
from wallet_api.ledger.merge import lock_wallets
from wallet_api.providers.trades.swaps import Block, Chunk, Listed, TrackedWallet, TradeSource
from wallet_api.sync.blocks import read_blocks

# The interval of the longer fetches, since a provider's index may be late by hours.
_RECHECK = timedelta(days=1)
# Wallets whose fetches start within this time read the same blocks: reading an hour again costs less than
# reading all blocks once more.
_TOGETHER = timedelta(hours=1)
# Each repetition leaves out a wallet that was removed meanwhile.
_SAVE_TRIES = 5

# The outcomes of wallets that did not fail.
SYNCED = "synced"
BEHIND = "behind"
REMOVED = "removed"

_DUE = load_sql(__package__, "due")
_SAVE_TRIED = load_sql(__package__, "save_tried")


@dataclass(frozen=True, slots=True)
class Span:
    """A wallet to fetch from `start` on, so that all its trades since `complete_from` are imported.

    `is_recheck` is true if the fetch goes further back than the usual overlap. Trades after `synced_until`
    are new.
    """

    wallet: TrackedWallet
    start: datetime
    complete_from: datetime
    is_recheck: bool
    synced_until: datetime | None


@dataclass(slots=True)
class Job:
    """Wallets of a chain, fetched together: one, or those for which a source reads the same blocks.

    `again` are transactions to read again, `known` blocks that were read. The fetch began at `began`.
    `outcome` is SYNCED, BEHIND if the next round continues the wallets, or a failure. `removed` are wallets
    that were removed meanwhile.
    """

    chain: str
    spans: list[Span]
    again: Sequence[Listed]
    known: Sequence[Block] = ()
    began: datetime | None = None
    outcome: str | None = None
    detail: str = ""
    removed: list[TrackedWallet] = field(default_factory=list)
    _chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))

    @property
    def wallets(self) -> list[TrackedWallet]:
        """Return the wallets."""
        return [span.wallet for span in self.spans]

    def next_chunk(self, source: TradeSource) -> Chunk:
        """Fetch the next chunk. Raise ProviderFault."""
        if self.began is None:
            self.began = datetime.now(UTC)
            start = min(span.start for span in self.spans)
            self._chunks = iter(source.chunks(self.wallets, start, self.again, self.known))
        return next(self._chunks)

    def seconds(self) -> float:
        """Return for how long the wallets have been fetched."""
        return 0.0 if self.began is None else (datetime.now(UTC) - self.began).total_seconds()

    def save_synced(self, connection: Connection, chunk: Chunk) -> None:
        """Save that the trades of this chunk are imported. Wallets that were removed leave the job."""
        saved = self._save(connection, synced_until=chunk.until or self.began)
        self.removed += [wallet for wallet in self.wallets if wallet.wallet_id not in saved]
        self.spans = [span for span in self.spans if span.wallet.wallet_id in saved]

    def fail(self, connection: Connection, failure: str, detail: str = "") -> None:
        """Save that the wallets failed, and how."""
        self.outcome, self.detail = failure, detail
        self._save(connection, failure=failure)

    def _save(
        self, connection: Connection, *, synced_until: datetime | None = None, failure: str | None = None
    ) -> set[int]:
        """Return the wallets that are still tracked."""
        parameters: dict[str, Any] = {
            "wallet_ids": [span.wallet.wallet_id for span in self.spans],
            "synced_from": [None if synced_until is None else span.complete_from for span in self.spans],
            # After an interruption the next fetch continues from the end of the chunk.
            "rechecked_at": [synced_until if span.is_recheck else None for span in self.spans],
            **{"synced_until": synced_until, "failure": failure, "tried_at": self.began},
        }
        # A wallet that is removed at the same time has no state.
        for _ in range(_SAVE_TRIES):
            with suppress(MissingReference), translated(), connection.transaction():
                # Those that remove wallets have the same locks.
                lock_wallets(connection, parameters["wallet_ids"])
                return {row["wallet_id"] for row in connection.execute(_SAVE_TRIED, parameters)}
        return set()


def tracked_rows(connection: Connection, chains: Sequence[str]) -> list[Row]:
    """Return the tracked wallets of the chains, and how far each is synced."""
    return connection.execute(_DUE, {"blockchains": list(chains)}).fetchall()


def jobs_due(
    connection: Connection,
    source: TradeSource,
    chains: Sequence[str],
    since: datetime,
    overlap: timedelta,
    again: Mapping[int, Sequence[Listed]],
    choose: Callable[[list[Row]], list[Row]] = list,
) -> list[Job]:
    """Return the jobs for the tracked wallets of the chains: new ones first, then those tried longest ago.

    `again` are by wallet the transactions to read again; `choose` returns the rows of the wallets to read.
    Of a source that reads blocks, a job has all wallets whose fetches start within an hour.
    """
    rows = choose(tracked_rows(connection, chains))
    if not source.reads_blocks:
        spans = [_span(row, since, overlap) for row in rows]
        return [Job(span.wallet.chain.name, [span], again.get(span.wallet.wallet_id, ())) for span in spans]
    jobs: list[Job] = []
    for span in sorted((_block_span(row, since) for row in rows), key=lambda span: span.start):
        if not jobs or span.start - jobs[-1].spans[0].start > _TOGETHER:
            jobs.append(Job(span.wallet.chain.name, [], []))
        jobs[-1].spans.append(span)
        jobs[-1].again = [*jobs[-1].again, *again.get(span.wallet.wallet_id, ())]
    if jobs:
        # Others reach the last blocks later.
        jobs[-1].known = read_blocks(connection, jobs[-1].chain)
    # Those that are nearly up to date come first.
    return jobs[::-1]


def _span(row: Row, since: datetime, overlap: timedelta) -> Span:
    synced_from, synced_until, rechecked_at = row["synced_from"], row["synced_until"], row["rechecked_at"]
    if synced_from is None or since < synced_from:
        return Span(wallet_of(row), since, since, True, synced_until)
    is_recheck = rechecked_at is None or datetime.now(UTC) - rechecked_at >= _RECHECK
    start = (rechecked_at or synced_from) if is_recheck else synced_until
    # Not earlier than the first fetch, or the second one would find trades that the first did not.
    return Span(wallet_of(row), max(start - overlap, synced_from), synced_from, is_recheck, synced_until)


def _block_span(row: Row, since: datetime) -> Span:
    """Return the span of a wallet whose blocks are read: they have nothing that comes late."""
    if row["synced_from"] is None or since < row["synced_from"]:
        return Span(wallet_of(row), since, since, False, row["synced_until"])
    return Span(wallet_of(row), row["synced_until"], row["synced_from"], False, row["synced_until"])


def wallet_of(row: Row) -> TrackedWallet:
    """Return the wallet of a row."""
    return TrackedWallet(row["wallet_id"], CHAINS[row["blockchain"]], row["address"])
