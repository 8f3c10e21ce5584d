"""Watch the wallets of a chain: import what its node notifies of, and choose which wallets to read beneath.

The reasons are in docs/sync.md, "Within seconds".
"""

import logging
import queue
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta

from cachetools import LRUCache

from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.trades.source import Chunk, Notice
from wallet_api.chain.sync import report
from wallet_api.chain.sync.pool import Pool, Result
from wallet_api.chain.sync.sources import NOTICE_THREADS, Provider
from wallet_api.chain.sync.tasks import Range, Task, tracked_rows
from wallet_api.database import Connection, Row

log = logging.getLogger(__name__)

# A watched wallet is still read once an hour.
_READ_AGAIN = timedelta(hours=1)
# The notices that wait, of what the wallets did and of the rest, each with a transaction of up to some 50 kB.
_MOST_NOTICES = 1000
_REMEMBERED_NOTICES = 20_000
_UNDER_WAY = 200
_REPORT_SECONDS = 10.0


class Watcher:
    """Watches the tracked wallets of a chain by the stream of its provider, until it is closed.

    Wallets that are not watched are read every `poll_seconds`. A gap is read `check_seconds` after its end,
    since a node may list a transaction a moment after it was final. `failed` counts notices that could not be
    read, by failure.
    """

    def __init__(self, provider: Provider, poll_seconds: float, check_seconds: float) -> None:
        self._poll, self._listed_after = timedelta(seconds=poll_seconds), timedelta(seconds=check_seconds)
        (self._chain,) = provider.chains
        self._notices: queue.Queue[Notice] = queue.Queue(_MOST_NOTICES)
        # What only names a wallet, which anybody can send: it is read after the others.
        self._of_others: queue.Queue[Notice] = queue.Queue(_MOST_NOTICES)
        # The addresses of notices that did not fit.
        self._missed: deque[str] = deque()
        self._seen: LRUCache[tuple[str, str, int], None] = LRUCache(_REMEMBERED_NOTICES)
        self._ranges: dict[str, Range] = {}
        self._again: dict[int, datetime] = {}
        self._check_seconds = check_seconds
        self.failed: Counter[str] = Counter()
        self._checked_at = self._reported_at = -_REPORT_SECONDS
        self._reconnects = self._gaps = 0
        assert provider.stream is not None
        assert provider.read_notice is not None
        self._stream = provider.stream(self._deliver)
        self._read_notice = provider.read_notice
        self._pool = Pool(provider, NOTICE_THREADS)
        self._running = ExitStack()
        self._running.enter_context(self._pool)
        self._running.callback(self._stream.close)
        self._stream.start()

    @property
    def wallets(self) -> int:
        """Return how many wallets are tracked."""
        return len(self._ranges)

    def choose(self, rows: list[Row]) -> list[Row]:
        """Watch the wallets of these rows, and return those to read now."""
        self._watch(rows)
        tracked = {row["wallet_id"] for row in rows}
        self._again = {number: at for number, at in self._again.items() if number in tracked}
        watched = self._stream.watched()
        now = datetime.now(UTC)
        return [row for row in rows if self._is_due(row, watched.get(row["address"]), now)]

    def results(self, connection: Connection) -> list[Result]:
        """Return the results of notices that have arrived, and begin to read new ones."""
        if time.monotonic() - self._checked_at > self._check_seconds:
            self._checked_at = time.monotonic()
            self._watch(tracked_rows(connection, [self._chain]))
            self._report(connection)
        self._submit()
        results = self._pool.results(0.0)
        for task, result in results:
            if result is None:
                task.fail(connection, "not read")
        return results

    def read_again(self, wallet: TrackedWallet) -> None:
        """Have a wallet read when the node lists all that is final now."""
        self._again[wallet.wallet_id] = datetime.now(UTC) + self._listed_after

    def close(self) -> None:
        """End the connection. All that happens from now on is a gap."""
        self._warn_of_failed()
        self._running.close()

    def _watch(self, rows: Sequence[Row]) -> None:
        self._ranges = {row["address"]: _range(row) for row in rows}
        self._stream.watch(list(self._ranges))
        missed = {self._missed.popleft() for _ in range(len(self._missed))}
        if missed:
            many = "%s: more notices than can be read; %d of %d wallets are read again"
            log.warning(many, self._chain, len(missed), len(self._ranges))
        for address in missed & self._ranges.keys():
            self.read_again(self._ranges[address].wallet)

    def _is_due(self, row: Row, watched_since: datetime | None, now: datetime) -> bool:
        read_until, tried_at = row["synced_until"], row["tried_at"]
        if row["failure"] is not None and tried_at > now - self._poll:
            return False
        if read_until is None or now - read_until > _READ_AGAIN:
            return True
        again_at = self._again.get(row["wallet_id"])
        if again_at is not None and again_at <= now:
            # It stays until a fetch has begun after this time.
            if read_until < again_at:
                return True
            del self._again[row["wallet_id"]]
        if watched_since is None:
            return bool(now - read_until > self._poll)
        # Before, it was not watched. What is final since then was notified.
        if read_until < watched_since + self._listed_after <= now:
            self._gaps += 1
            return True
        return False

    def _deliver(self, notice: Notice) -> None:
        notices = self._notices if notice.may_be_signed else self._of_others
        try:
            notices.put_nowait(notice)
        except queue.Full:
            self._missed.extend(notice.addresses)

    def _submit(self) -> None:
        """Begin to read the notices, each of them once."""
        for notices, most in ((self._notices, _UNDER_WAY), (self._of_others, NOTICE_THREADS)):
            with suppress(queue.Empty):
                while self._pool.running < most:
                    notice = notices.get_nowait()
                    for address in notice.addresses:
                        self._submit_one(address, notice)

    def _submit_one(self, address: str, notice: Notice) -> None:
        key = (address, notice.signature, notice.slot)
        found = self._ranges.get(address)
        if found is not None and key not in self._seen:
            self._seen[key] = None
            wallet = found.wallet

            def read() -> Iterator[Chunk]:
                yield self._read_notice(wallet, notice)

            # One that only names the wallet, which anybody can send, does not go before the wallets to read.
            urgent = notice.may_be_signed
            self._pool.submit(Task(self._chain, [found], read, self._save, is_urgent=urgent))

    def _save(
        self, connection: Connection, task: Task, until: datetime | None, failure: str | None
    ) -> set[int]:
        """Have the wallet of a notice read that could not be; how far it is read stays the same."""
        if failure is not None:
            self.failed[failure] += 1
            for wallet in task.wallets:
                self.read_again(wallet)
        return {wallet.wallet_id for wallet in task.wallets}

    def _report(self, connection: Connection) -> None:
        """Save how the chain is watched: gaps at once, since they are not counted again."""
        if time.monotonic() - self._reported_at < _REPORT_SECONDS and not self._gaps:
            return
        self._reported_at = time.monotonic()
        self._warn_of_failed()
        reconnects = self._stream.reconnects
        facts = report.watch_facts(
            self._chain,
            self._stream.method,
            wallets=len(self._ranges),
            watched=len(self._stream.watched()),
            is_connected=self._stream.is_connected,
            reconnects=reconnects - self._reconnects,
            gaps=self._gaps,
            now=datetime.now(UTC),
        )
        report.add(connection, facts)
        self._reconnects, self._gaps = reconnects, 0

    def _warn_of_failed(self) -> None:
        for failure, count in self.failed.items():
            log.warning("%s: %d notices are read later: %s", self._chain, count, failure)
        self.failed.clear()


def _range(row: Row) -> Range:
    now = datetime.now(UTC)
    # A block has whole seconds: it may be older than the last fetch, which did not find its transaction.
    return Range(TrackedWallet.from_row(row), now, now, False, row["synced_until"], row["synced_from"])
