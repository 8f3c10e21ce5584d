"""What a round leaves out, and how soon its trades are in the ledger."""

import logging
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from wallet_api.database import Connection
from wallet_api.sync.left_out import (
    NO_TRADE,
    Owned,
    count_unreadable,
    save_left_out,
    save_reasons,
    settle_left_out,
)
from wallet_api.sync.reader_threads import Piece

log = logging.getLogger(__name__)


@dataclass
class Counts:
    """What a round left out.

    `left_out` counts what it met by reason and detail, `new` what no round had met before, and `unreadable`
    what is kept because it could not be read. `no_trades` are transactions that are no trades by a rule.
    """

    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    new: int = 0
    unreadable: int = 0
    no_trades: int = 0

    @property
    def is_complete(self) -> bool:
        """Return whether there is nothing that an operator has not seen yet, or that has to be read again."""
        return not self.new and not self.unreadable


class Tally:
    """Keeps and counts what the pieces of a round leave out."""

    def __init__(self, connection: Connection, chains: Sequence[str]) -> None:
        self._connection = connection
        self._chains = chains
        # By chain and reason.
        self._met: Counter[tuple[str, str]] = Counter()
        self._new: Counter[tuple[str, str]] = Counter()
        self._counts = Counts()
        self._delays: dict[str, list[float]] = {}

    def add(self, pieces: Sequence[Piece], left_out: Sequence[Owned]) -> None:
        """Keep what imported pieces left out, and forget what could be read now.

        `left_out` may also contain that of pieces which are fetched again, and are not counted here.
        """
        now = datetime.now(UTC)
        imported = {piece.task.wallet.wallet_id for piece in pieces}
        kept = [(wallet, each) for wallet, each in left_out if wallet.wallet_id in imported]
        for wallet, each in kept:
            log.info("%s on %s: %s: %s", wallet.address, wallet.chain.name, each.tx_signature, each.detail)
            self._met[wallet.chain.name, each.reason] += 1
            self._counts.left_out[each.reason, each.detail] += 1
        for wallet, each in save_left_out(self._connection, kept, now):
            self._new[wallet.chain.name, each.reason] += 1
            self._counts.new += 1
        unsettled = {(wallet.wallet_id, each.tx_signature) for wallet, each in kept}
        settled: dict[int, set[str]] = {}
        for piece in pieces:
            task, chain = piece.task, piece.task.wallet.chain.name
            self._met[chain, NO_TRADE] += piece.chunk.no_trades
            self._new[chain, NO_TRADE] += piece.chunk.no_trades
            self._counts.no_trades += piece.chunk.no_trades
            moments = {draft.tx_signature: draft.created_at for draft in piece.drafted.drafts}
            if task.synced_until is not None:
                self._delays.setdefault(chain, []).extend(
                    max(0.0, (now - moment).total_seconds())
                    for moment in moments.values()
                    if moment > task.synced_until
                )
            if task.has_left_out:
                wallet_id = task.wallet.wallet_id
                settled.setdefault(wallet_id, set()).update(
                    signature
                    for signature in (*moments, *piece.chunk.settled)
                    if (wallet_id, signature) not in unsettled
                )
        settle_left_out(self._connection, settled)

    def delay_seconds(self, chain: str) -> float | None:
        """Return the median time from block to ledger of the new trades of a chain; None without any."""
        delays = self._delays.get(chain)
        return statistics.median(delays) if delays else None

    def finish(self) -> Counts:
        """Save the counts by chain and reason, and return those of the round."""
        save_reasons(self._connection, self._chains, self._new, self._met)
        self._counts.unreadable = count_unreadable(self._connection, self._chains)
        return self._counts
