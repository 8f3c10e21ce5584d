"""The threads that fetch wallets, chunk by chunk, and the faults after which they stop."""

import logging
import threading
from collections.abc import Sequence
from queue import Empty, Queue
from typing import Self

from wallet_api.chain.providers.faults import BadKey, ProviderFault, QuotaExhausted, TimedOut, Unreachable
from wallet_api.chain.providers.replies import until_midnight
from wallet_api.chain.providers.trades.source import Chunk
from wallet_api.chain.sync.sources import Provider
from wallet_api.chain.sync.tasks import REMOVED, Task

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 600.0
# The provider may reset a quota a little late.
_RESET_SECONDS = 30.0

# Why a round stops, and how many seconds no request is sent.
Refusal = tuple[str, float]

_NAMED_WALLETS = 10
# Failures whose cause may be here.
_OF_NETWORK = (Unreachable.outcome, TimedOut.outcome)

# The next chunk of a task, why there is none, or None if the task was not begun.
Result = tuple[Task, Chunk | Exception | None]


class Pool:
    """Threads that fetch one chunk for each submitted task, in order; to be used as a context manager.

    Unlike those of concurrent.futures they are daemons, so that a slow provider does not delay the exit of
    the process. `running` counts the tasks whose results were not returned yet. Once `halted` is set, as by
    a fault of the provider itself, no further chunk is fetched.
    """

    def __init__(self, provider: Provider, threads: int) -> None:
        self._provider = provider
        self._tasks: Queue[Task | None] = Queue()
        self._results: Queue[Result] = Queue()
        self._threads = threads
        self.running = 0
        self.halted = threading.Event()

    @property
    def is_full(self) -> bool:
        """Return whether enough is submitted for the threads to go on while the caller imports results."""
        return self.running >= 3 * self._threads

    def submit(self, task: Task) -> None:
        """Fetch the next chunk of a task."""
        self.running += 1
        self._tasks.put(task)

    def results(self, timeout_seconds: float) -> list[Result]:
        """Return all results that have arrived, after waiting for the first one."""
        results: list[Result] = []
        try:
            results.append(self._results.get(timeout=timeout_seconds))
            while True:
                results.append(self._results.get_nowait())
        except Empty:
            self.running -= len(results)
            return results

    def __enter__(self) -> Self:
        for _ in range(self._threads):
            threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.halted.set()
        for _ in range(self._threads):
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._results.put((task, None if self.halted.is_set() else self._fetch(task)))

    def _fetch(self, task: Task) -> Chunk | Exception:
        try:
            with self._provider.pace.work(urgent=task.is_urgent):
                return task.next_chunk()
        except ProviderFault as fault:
            if refusal_of(fault, self._provider.key_setting) is not None:
                self.halted.set()
            return fault
        except Exception as error:
            # An unexpected error in one task must not stop the others.
            log.exception("fetching %s on %s failed", task.wallets[0].address, task.chain)
            return error


def refusal_of(fault: ProviderFault, key_setting: str) -> Refusal | None:
    """Return why the round stops; None if other wallets can still be fetched.

    `key_setting` is the setting that contains the provider's key.
    """
    if not fault.stops:
        return None
    if isinstance(fault, QuotaExhausted):
        return fault.stops, until_midnight() + _RESET_SECONDS
    key = f" ({key_setting})" if isinstance(fault, BadKey) else ""
    pause = fault.retry_after_seconds
    return f"{fault.stops}{key}", _PAUSE_SECONDS if pause is None else pause


def warn_of(failure: str, tasks: Sequence[Task], url_setting: str) -> None:
    """Log which wallets of the tasks of a round have failed so, the first ones by name, and what to check."""
    failed = [task for task in tasks if task.outcome == failure]
    wallets = [wallet for task in failed for wallet in task.wallets]
    if failure == REMOVED:
        wallets += [wallet for task in tasks for wallet in task.removed]
    names = ", ".join(f"{wallet.address} on {wallet.chain.name}" for wallet in wallets[:_NAMED_WALLETS])
    more = f" and {len(wallets) - _NAMED_WALLETS} more" if len(wallets) > _NAMED_WALLETS else ""
    detail = failed[0].detail if failed else ""
    check = "check the network and" if failure in _OF_NETWORK else "from the provider of"
    hint = f"; {check} {url_setting}" if detail else ""
    log.warning("not synced: %s %s: %s%s%s", failure, detail, names, more, hint)
