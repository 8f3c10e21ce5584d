"""A round of `sync trades`: fetch every tracked wallet once, and import its new trades."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wallet_api.database import Connection
from wallet_api.providers.trades.swaps import TradeSource
from wallet_api.sync.importer import Importer, TradesSummary
from wallet_api.sync.left_out import left_out_due
from wallet_api.sync.prices import Prices
from wallet_api.sync.reader_threads import ReaderThreads
from wallet_api.sync.state import tasks_due


@dataclass(frozen=True, slots=True)
class TradesSync:
    """A source of trades, the chains to sync from it, and the time from which trades are wanted.

    A wallet that takes longer than `turn_seconds` is continued in the next round, so that it delays no other.
    """

    source: TradeSource
    prices: Prices
    chains: Sequence[str]
    since: datetime
    overlap: timedelta
    threads: int
    turn_seconds: float = math.inf
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def round(
        self, connection: Connection, stopping: threading.Event, progress: Callable[[int, int], None]
    ) -> TradesSummary:
        """Fetch every wallet once; call `progress` with the number of wallets done, and of all.

        A wallet that fails does not affect the others, but a provider that refuses all requests ends the
        round. When `stopping` is set, the round ends after the current wallets.
        """
        now = datetime.now(UTC)
        again = left_out_due(connection, self.chains, self.started, now)
        tasks = tasks_due(connection, self.chains, self.since, self.overlap, again, now)
        importer = Importer(connection, self.prices, self.chains, tasks)
        with ReaderThreads(self.source, tasks, self.threads, self.turn_seconds, stopping) as readers:
            for group in readers.groups():
                importer.add(group)
                if importer.summary.stopped is not None:
                    readers.halt()
                progress(importer.done, len(tasks))
        return importer.finish()
