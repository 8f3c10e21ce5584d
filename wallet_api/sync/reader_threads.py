"""Threads that fetch the swaps of wallets from a source, while the caller imports the results."""

import logging
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from wallet_api.providers.faults import ProviderFault
from wallet_api.providers.trades.swaps import Chunk, Listed, TrackedWallet, TradeSource
from wallet_api.sync.drafts import Drafted, draft_trades
from wallet_api.sync.refusals import refusal_of

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
# How long running fetches may take after a stop is requested.
_GRACE_SECONDS = 5.0
_CLOSE_SECONDS = 1.0
# A group is imported once it has this many swaps; it ends with a whole chunk.
_GROUP_SWAPS = 5_000


@dataclass(frozen=True, slots=True)
class Task:
    """A wallet to fetch from `start` on, so that all its trades since `complete_from` are imported.

    `recheck` is true if the fetch goes further back than the usual overlap. `again` are transactions to
    read again, and `has_left_out` is true if some were left out before. Trades after `synced_until` are new.
    """

    wallet: TrackedWallet
    start: datetime
    complete_from: datetime
    recheck: bool
    again: Sequence[Listed] = ()
    has_left_out: bool = False
    synced_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """The trades in one chunk of a wallet. `began` is when the wallet's fetch began.

    `gives_way` is true if the rest of the wallet is left to the next round.
    """

    task: Task
    chunk: Chunk
    drafted: Drafted
    began: datetime
    gives_way: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A wallet that could not be fetched completely. `fault` is None for an unexpected error."""

    task: Task
    fault: ProviderFault | None


Result = Piece | Failure


class ReaderThreads:
    """Fetches the wallets of `tasks` in order, `count` at a time; to be used as a context manager.

    A wallet that takes longer than `turn_seconds` gives way after its current chunk. The queue of results is
    short, so that memory stays bounded if the database is slow.
    """

    def __init__(
        self,
        source: TradeSource,
        tasks: Iterable[Task],
        count: int,
        turn_seconds: float,
        stopping: threading.Event,
    ) -> None:
        self._source = source
        self._turn_seconds = turn_seconds
        self._tasks = iter(tasks)
        self._lock = threading.Lock()
        self._stopping = stopping
        self._halted = threading.Event()
        self._closed = threading.Event()
        self._results: queue.Queue[Result | None] = queue.Queue(2 * count)
        # Daemons, so that a slow provider does not delay the exit of the process.
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]

    def halt(self) -> None:
        """Start no further wallet."""
        self._halted.set()

    def groups(self) -> Iterator[list[Result]]:
        """Yield the results in groups to be imported together, until all are done or a stop is requested."""
        working = len(self._threads)
        stop_at = None
        while working:
            if stop_at is None and self._stopping.is_set():
                stop_at = time.monotonic() + _GRACE_SECONDS
            if stop_at is not None and time.monotonic() > stop_at:
                return
            group: list[Result] = []
            swaps = 0
            try:
                result = self._results.get(timeout=_POLL_SECONDS)
                while True:
                    if result is None:
                        working -= 1
                    else:
                        group.append(result)
                        swaps += len(result.chunk.swaps) if isinstance(result, Piece) else 0
                    if swaps >= _GROUP_SWAPS:
                        break
                    result = self._results.get_nowait()
            except queue.Empty:
                pass
            if group:
                yield group

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.halt()
        self._closed.set()
        give_up_at = time.monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, give_up_at - time.monotonic()))

    def _is_over(self) -> bool:
        return self._halted.is_set() or self._stopping.is_set()

    def _run(self) -> None:
        while not self._is_over():
            with self._lock:
                task = next(self._tasks, None)
            if task is None:
                break
            self._fetch_wallet(task)
        self._put(None)

    def _fetch_wallet(self, task: Task) -> None:
        began = datetime.now(UTC)
        turn_ends = time.monotonic() + self._turn_seconds
        try:
            for chunk in self._source.chunks(task.wallet, task.start, task.again):
                gives_way = chunk.until is not None and time.monotonic() > turn_ends
                drafted = draft_trades(task.wallet.chain, chunk.swaps)
                self._put(Piece(task, chunk, drafted, began, gives_way))
                if gives_way or self._is_over():
                    return
        except ProviderFault as fault:
            if refusal_of(fault) is not None:
                self.halt()
            self._put(Failure(task, fault))
        except Exception:
            # An unexpected error in one wallet must not stop the others.
            log.exception("fetching %s on %s failed", task.wallet.address, task.wallet.chain.name)
            self._put(Failure(task, None))

    def _put(self, result: Result | None) -> None:
        while not self._closed.is_set():
            try:
                self._results.put(result, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return
