"""A round of `sync trades`: fetch every tracked wallet once, and import its new trades.

`tasks` chooses which wallets are fetched together and from when on. The threads of a `pool` fetch them, chunk
by chunk; those of a `watch`, what a node notifies of meanwhile. The `importer` takes all chunks, in this
thread. What the round did goes to the `report`, and into the summary that it returns.
"""

import logging
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.providers.trades.evm_rpc import EvmRpcTrades
from wallet_api.chain.providers.trades.source import Chunk, Listed
from wallet_api.chain.sync import report
from wallet_api.chain.sync.finality import forget_final
from wallet_api.chain.sync.importer import FetchedChunk, Importer
from wallet_api.chain.sync.left_out import left_out_due
from wallet_api.chain.sync.pool import Pool, Result, refusal_of, warn_of
from wallet_api.chain.sync.prices import Prices
from wallet_api.chain.sync.recheck import Rechecks
from wallet_api.chain.sync.sources import Provider
from wallet_api.chain.sync.summaries import TradesSummary
from wallet_api.chain.sync.tasks import BEHIND, REMOVED, SYNCED, Task, block_tasks, tracked_rows, wallet_tasks
from wallet_api.chain.sync.watch import Watcher
from wallet_api.database import Connection, Row
from wallet_api.ledger.tokens import Token

log = logging.getLogger(__name__)
progress_log = logging.getLogger("wallet_api.chain.sync.progress")

_POLL_SECONDS = 0.2
_NOTICES_SECONDS = 0.05
# How long running fetches may take after a stop is requested.
_GRACE_SECONDS = 5.0
# When so many wallets in a row have failed because of the provider, it counts as down.
_FAILURES_IN_A_ROW = 20
_DOWN_SECONDS = 30.0
# A round that takes longer shows how far it is, with this period.
_PROGRESS_SECONDS = 60.0


@dataclass(slots=True)
class TradesSync:
    """A provider of trades, the time from which trades are wanted, and the tokens of which none is.

    A task that takes longer than `turn_seconds` is continued in the next round, so that it delays no other.
    With `watch_seconds`, the chain is watched: by what `start_watching` returns, which chooses the wallets
    of a round, and a round lasts so long; without it, by new blocks with this period, also while new wallets
    take longer. A `watcher` is closed when a round ends early.
    """

    provider: Provider
    prices: Prices
    since: datetime
    overlap: timedelta
    threads: int
    turn_seconds: float = math.inf
    start_watching: Callable[[], Watcher] | None = None
    watch_seconds: float = 0.0
    denied: frozenset[Token] = frozenset()
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    watcher: Watcher | None = field(default=None, init=False)
    rechecks: Rechecks | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if isinstance(self.provider.source, EvmRpcTrades):
            self.rechecks = Rechecks(self.provider.source, self.overlap)

    @property
    def watches_blocks(self) -> bool:
        """Return whether the chain is watched by reading its new blocks."""
        return bool(self.watch_seconds) and self.start_watching is None

    def round(
        self, connection: Connection, stopping: threading.Event, progress: Callable[[int, int], None]
    ) -> TradesSummary:
        """Fetch every wallet once; call `progress` with the number of wallets done, and of all.

        A wallet that fails does not affect the others, but a fault of the provider itself ends the round. So
        does `stopping`, after the current chunks.
        """
        try:
            summary = self._round(connection, stopping, progress)
        except BaseException:
            # What was notified and not imported is a gap.
            self._leave()
            raise
        if stopping.is_set() or summary.stopped is not None:
            self._leave()
        return summary

    def tasks(
        self, connection: Connection, rows: Sequence[Row], again: Mapping[int, Sequence[Listed]]
    ) -> list[Task]:
        """Return the tasks for these wallets; `again` are by wallet the transactions to read again."""
        source = self.provider.source
        if source.reads_blocks:
            return block_tasks(connection, source, rows, self.since, again)
        return wallet_tasks(source, rows, self.since, self.overlap, again)

    def _round(
        self, connection: Connection, stopping: threading.Event, progress: Callable[[int, int], None]
    ) -> TradesSummary:
        chains = self.provider.chains
        rows = tracked_rows(connection, chains)
        if self.start_watching is not None:
            self.watcher = self.watcher or self.start_watching()
            rows = self.watcher.choose(rows)
        if not self.provider.source.states_final:
            forget_final(connection, chains)
        again = left_out_due(connection, chains, self.started)
        recheck = None if self.rechecks is None else self.rechecks.task(connection, chains[0], rows)
        work = _TradesRound(self, connection, self.tasks(connection, rows, again), recheck)
        work.run(stopping, progress)
        return work.finish()

    def _leave(self) -> None:
        if self.watcher is not None:
            self.watcher.close()
            self.watcher = None


class _TradesRound:
    def __init__(
        self, sync: TradesSync, connection: Connection, tasks: Sequence[Task], recheck: Task | None
    ) -> None:
        self._sync = sync
        self._provider = sync.provider
        self._connection = connection
        self._tasks = tasks
        # Beside the others, whose wallets it has.
        self._rechecks = [] if recheck is None else [recheck]
        self._summary = TradesSummary(chains=list(sync.provider.chains), wallets=_wallets(tasks))
        self._importer = Importer(connection, sync.prices, self._summary, sync.denied)
        self._failures_in_a_row = 0
        self._began = self._synced_at = self._shown_at = time.monotonic()
        # By chain, when a wallet or a part of it was read last.
        self._arrived_at: dict[str, datetime] = {}
        self._called = Counter(self._provider.methods)

    def run(self, stopping: threading.Event, progress: Callable[[int, int], None]) -> None:
        waiting = deque([*self._tasks, *self._rechecks])
        give_up_at = math.inf
        ends_at = self._began + (0.0 if self._sync.watcher is None else self._sync.watch_seconds)
        with Pool(self._provider, self._sync.threads) as pool:
            while (pool.running or waiting or time.monotonic() < ends_at) and time.monotonic() < give_up_at:
                if stopping.is_set():
                    give_up_at = min(give_up_at, time.monotonic() + _GRACE_SECONDS)
                if stopping.is_set() or self._summary.stopped is not None:
                    ends_at = 0.0
                    pool.halted.set()
                    waiting.clear()
                elif self._sync.watches_blocks:
                    waiting.extendleft(self._new_blocks())
                while waiting and not pool.is_full:
                    pool.submit(waiting.popleft())
                # An unfinished task goes on before the next one starts.
                wait = _POLL_SECONDS if self._sync.watcher is None else _NOTICES_SECONDS
                waiting.extendleft(self._take(pool.results(wait) + self._notified()))
                progress(self._summary.wallets - self._outcomes()[None], self._summary.wallets)
                if time.monotonic() - self._shown_at >= _PROGRESS_SECONDS:
                    self._show_progress()

    def _show_progress(self) -> None:
        """Log how far the round is, and save it with its last results, by which a long round is not late."""
        self._shown_at = time.monotonic()
        facts: list[report.Fact] = []
        for chain in self._provider.chains:
            outcomes = self._outcomes(chain)
            read = outcomes[SYNCED] + outcomes[BEHIND]
            trades, arrived_at = self._importer.landed[chain], self._arrived_at.get(chain)
            facts += report.progress_facts(chain, outcomes.total(), read, trades, arrived_at)
            if outcomes[None]:
                progress_log.info(
                    "%s: %d of %d wallets are read, with %d trades",
                    chain,
                    read,
                    outcomes.total(),
                    trades,
                )
        report.add(self._connection, facts)

    def _new_blocks(self) -> list[Task]:
        """Return the task of the chain again if it is due, while others are under way."""
        # The others have the whole rate for so long.
        is_due = time.monotonic() - self._synced_at > self._sync.watch_seconds
        are_others_left = any(task.outcome is None for task in (*self._tasks[1:], *self._rechecks))
        if not is_due or not are_others_left or self._tasks[0].outcome != SYNCED:
            return []
        rows = tracked_rows(self._connection, self._provider.chains)
        tasks = self._sync.tasks(self._connection, [row for row in rows if row["is_with_chain"]], {})
        self._tasks = [*tasks, *self._tasks[1:]]
        self._summary.wallets = _wallets(self._tasks)
        return tasks

    def _notified(self) -> list[Result]:
        watcher = self._sync.watcher
        results = [] if watcher is None else watcher.results(self._connection)
        self._summary.notified += len(results)
        return results

    def finish(self) -> TradesSummary:
        """Log the failures, report what the round did, and return the counts."""
        summary = self._summary
        failures = self._outcomes()
        summary.left = failures.pop(None, 0)
        summary.synced, summary.behind = failures.pop(SYNCED, 0), failures.pop(BEHIND, 0)
        summary.failures = Counter({str(failure): count for failure, count in failures.items()})
        summary.failed = failures.total()
        for failure in summary.failures:
            warn_of(failure, self._tasks, self._provider.url_setting)
        self._report()
        return summary

    def _report(self) -> None:
        """Report the round: a success of chains of which all wallets were tried, and one was read if any."""
        chains, watcher, now = self._provider.chains, self._sync.watcher, datetime.now(UTC)
        facts = self._importer.finish(chains)
        calls = {name: count - self._called[name] for name, count in self._provider.methods.items()}
        seconds = time.monotonic() - self._began
        facts += report.call_facts(self._connection, chains[0], calls, seconds, now)
        for chain in chains:
            outcomes = self._outcomes(chain)
            left, tried = outcomes[None], outcomes.total()
            read = outcomes[SYNCED] + outcomes[BEHIND]
            wallets = tried if watcher is None else watcher.wallets
            is_success = not left and bool(read or not tried)
            if not left or self._summary.stopped is not None:
                succeeded_at = now if is_success else None
                facts += report.round_facts(chain, "trades", wallets, tried - read, succeeded_at=succeeded_at)
        if self._sync.watches_blocks:
            facts += report.watch_facts(
                chains[0],
                report.BLOCKS,
                wallets=self._summary.wallets,
                watched=self._summary.synced,
                is_connected=self._summary.stopped is None and not self._summary.failed,
                now=now,
            )
        elif watcher is None:
            report.forget_facts(self._connection, chains, "watch_")
        report.forget_facts(self._connection, chains, "round_", "trades")
        report.add(self._connection, facts)

    def _outcomes(self, chain: str | None = None) -> Counter[str | None]:
        """Return how many wallets of a chain, or of all, have which outcome; None before they have one."""
        outcomes: Counter[str | None] = Counter()
        for task in self._tasks:
            if chain in (None, task.chain):
                outcomes[task.outcome] += len(task.ranges)
                outcomes[REMOVED] += len(task.removed)
        return +outcomes

    def _take(self, results: Sequence[Result]) -> list[Task]:
        """Import chunks, note failures, and return the tasks that are to be continued."""
        fetched = [FetchedChunk(task, result) for task, result in results if isinstance(result, Chunk)]
        if fetched:
            self._importer.add(fetched)
        unfinished = []
        for task, result in results:
            if isinstance(result, ProviderFault):
                self._take_fault(task, result)
            elif isinstance(result, Exception):
                task.fail(self._connection, "crashed")
            elif result is not None and task.outcome is None:
                self._failures_in_a_row = 0
                self._arrived_at[task.chain] = datetime.now(UTC)
                if result.is_last:
                    task.outcome, self._synced_at = SYNCED, time.monotonic()
                elif task.seconds() > self._sync.turn_seconds:
                    task.outcome = BEHIND
                else:
                    unfinished.append(task)
        return unfinished

    def _take_fault(self, task: Task, fault: ProviderFault) -> None:
        refusal = refusal_of(fault, self._provider.key_setting)
        # A refusal does not concern the wallet, which therefore keeps its place in the order.
        if refusal is None:
            task.fail(self._connection, fault.outcome, fault.detail)
            self._failures_in_a_row += fault.provider_works is False
            if self._failures_in_a_row >= _FAILURES_IN_A_ROW:
                refusal = f"the provider of {self._provider.url_setting} seems to be down", _DOWN_SECONDS
        stopped, pause = self._summary.stopped, self._summary.pause_seconds
        if refusal is not None and (stopped is None or refusal[1] > pause):
            self._summary.stopped, self._summary.pause_seconds = refusal[0], round(refusal[1])


def _wallets(tasks: Sequence[Task]) -> int:
    return sum(len(task.ranges) for task in tasks)
