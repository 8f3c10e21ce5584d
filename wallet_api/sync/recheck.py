"""The second reading of blocks, once a day: a node may have left out logs for longer than a moment."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wallet_api.database import Connection, Row, load_statements
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.providers.trades.source import Chunk, Recheck, TradeSource
from wallet_api.sync.jobs import BEHIND, Job, Range

_EVERY = timedelta(days=1)
# After a failure.
_PAUSE_SECONDS = 600.0

_RECHECK = load_statements(__package__, "recheck")


@dataclass(slots=True, kw_only=True)
class RecheckJob(Job):
    """The blocks of a time, read again for all wallets of a chain. How far these are read stays the same."""

    rechecks: "Rechecks"
    chunks: Iterator[Chunk]

    def next_chunk(self, source: TradeSource) -> Chunk:
        """Read the next blocks. Raise ProviderFault."""
        self.began = self.began or datetime.now(UTC)
        return next(self.chunks)

    def save_synced(self, connection: Connection, chunk: Chunk) -> None:
        """Save until when the blocks are read."""
        connection.execute(_RECHECK["move"], {"blockchain": self.chain, "until": chunk.until})

    def fail(self, connection: Connection, failure: str, detail: str = "") -> None:
        """Go on later."""
        self.outcome, self.detail = failure, detail
        self.rechecks.pause()


@dataclass(slots=True)
class Rechecks:
    """Reads the blocks of a chain again once a day, all but those of the last `overlap`."""

    recheck: Recheck
    overlap: timedelta
    _not_before: float = field(default=0.0, init=False)
    _job: RecheckJob | None = field(default=None, init=False)

    def pause(self) -> None:
        """Leave the node alone for a while."""
        self._not_before = time.monotonic() + _PAUSE_SECONDS

    def job(self, connection: Connection, blockchain: str, rows: Sequence[Row]) -> RecheckJob | None:
        """Return the job that reads what is due again, for the wallets that are read with their chain."""
        if self._job is not None and self._job.outcome == BEHIND:
            # It goes on where it was when others had their turn.
            self._job.outcome = self._job.began = None
            return self._job
        state = connection.execute(_RECHECK["due"], {"blockchain": blockchain}).fetchone()
        wallets = [TrackedWallet.of(row) for row in rows if row["is_with_chain"]]
        if state is None or not wallets or time.monotonic() < self._not_before:
            return None
        since, now = state["rechecked_until"], datetime.now(UTC)
        until = min(state["synced_until"], now - self.overlap)
        if now - since < _EVERY or until <= since:
            return None
        parameters = {"blockchain": blockchain, "since": since, "until": until}
        found = connection.execute(_RECHECK["read"], parameters).fetchall()
        read = {(row["tx_signature"], row["address"]) for row in found}
        # Whatever the ledger does not have is new.
        ranges = [Range(wallet, since, since, False, now, since) for wallet in wallets]
        chunks = self.recheck(wallets, since, until, read)
        self._job = RecheckJob(blockchain, ranges, (), rechecks=self, chunks=chunks)
        return self._job
