"""The jobs of a round: one for each wallet, with the time from which to fetch it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, MissingReference, Row, load_sql, translated
from wallet_api.providers.trades.swaps import Chunk, Listed, TrackedWallet, TradeSource

# The interval of the longer fetches, since a provider's index may be late by hours.
_RECHECK = timedelta(days=1)

# The outcomes of a wallet that did not fail.
SYNCED = "synced"
BEHIND = "behind"

_DUE = load_sql(__package__, "due")
_SAVE_TRIED = load_sql(__package__, "save_tried")


@dataclass(slots=True)
class Job:
    """A wallet to fetch from `start` on, so that all its trades since `complete_from` are imported.

    `is_recheck` is true if the fetch goes further back than the usual overlap. `again` are transactions to
    read again. Trades after `synced_until` are new. The fetch began at `began`. `outcome` is SYNCED, BEHIND
    if the next round continues the wallet, or a failure.
    """

    wallet: TrackedWallet
    start: datetime
    complete_from: datetime
    is_recheck: bool
    synced_until: datetime | None
    again: Sequence[Listed]
    began: datetime | None = None
    outcome: str | None = None
    detail: str = ""
    _chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))

    def next_chunk(self, source: TradeSource) -> Chunk:
        """Fetch the next chunk of the wallet. Raise ProviderFault."""
        if self.began is None:
            self.began = datetime.now(UTC)
            self._chunks = iter(source.chunks(self.wallet, self.start, self.again))
        return next(self._chunks)

    def seconds(self) -> float:
        """Return for how long the wallet has been fetched."""
        return 0.0 if self.began is None else (datetime.now(UTC) - self.began).total_seconds()

    def save_synced(self, connection: Connection, chunk: Chunk) -> bool:
        """Save that the trades of this chunk are imported; return False if the wallet was removed."""
        until = chunk.until or self.began
        # After an interruption the next fetch continues from the end of the chunk.
        rechecked_at = until if self.is_recheck else None
        return self._save(
            connection, synced_from=self.complete_from, synced_until=until, rechecked_at=rechecked_at
        )

    def fail(self, connection: Connection, failure: str, detail: str = "") -> None:
        """Save that the wallet failed, and how."""
        self.outcome, self.detail = failure, detail
        self._save(connection, failure=failure)

    def _save(self, connection: Connection, **columns: Any) -> bool:
        none = dict.fromkeys(("synced_from", "synced_until", "rechecked_at", "failure"))
        parameters = {"wallet_id": self.wallet.wallet_id, "tried_at": self.began, **none, **columns}
        # In a transaction of its own, which locks one wallet only, so that it cannot deadlock with a command
        # that removes several. A wallet that is removed at the same time has no state.
        with suppress(MissingReference), translated():
            return connection.execute(_SAVE_TRIED, parameters).rowcount == 1
        return False


def jobs_due(
    connection: Connection,
    chains: Sequence[str],
    since: datetime,
    overlap: timedelta,
    again: Mapping[int, Sequence[Listed]],
) -> list[Job]:
    """Return a job for each tracked wallet of the chains: new ones first, then those tried longest ago.

    `again` are by wallet the transactions to read again.
    """
    rows = connection.execute(_DUE, {"blockchains": list(chains)})
    return [_job(row, since, overlap, again.get(row["wallet_id"], ())) for row in rows]


def _job(row: Row, since: datetime, overlap: timedelta, again: Sequence[Listed]) -> Job:
    wallet = TrackedWallet(row["wallet_id"], CHAINS[row["blockchain"]], row["address"])
    synced_from, synced_until, rechecked_at = row["synced_from"], row["synced_until"], row["rechecked_at"]
    if synced_from is None or since < synced_from:
        return Job(wallet, since, since, True, synced_until, again)
    is_recheck = rechecked_at is None or datetime.now(UTC) - rechecked_at >= _RECHECK
    start = (rechecked_at or synced_from) if is_recheck else synced_until
    # Not earlier than the first fetch, or the second one would find trades that the first did not.
    return Job(wallet, max(start - overlap, synced_from), synced_from, is_recheck, synced_until, again)
