"""The threads that fetch wallets, chunk by chunk."""

import logging
import threading
from queue import Empty, Queue
from typing import Self

from wallet_api.providers.faults import ProviderFault
from wallet_api.providers.trades.source import Chunk
from wallet_api.sync.jobs import Job
from wallet_api.sync.refusals import refusal_of
from wallet_api.sync.sources import Provider

log = logging.getLogger(__name__)

# The next chunk of a job, why there is none, or None if the job was not begun.
Result = tuple[Job, Chunk | Exception | None]


class Pool:
    """Threads that fetch one chunk for each submitted job, in order; to be used as a context manager.

    Unlike those of concurrent.futures they are daemons, so that a slow provider does not delay the exit of
    the process. `running` counts the jobs whose results were not returned yet. Once `halted` is set, as by
    a fault of the provider itself, no further chunk is fetched.
    """

    def __init__(self, provider: Provider, threads: int) -> None:
        self._provider = provider
        self._jobs: Queue[Job | None] = Queue()
        self._results: Queue[Result] = Queue()
        self._threads = threads
        self.running = 0
        self.halted = threading.Event()

    @property
    def is_full(self) -> bool:
        """Return whether enough is submitted for the threads to go on while the caller imports results."""
        return self.running >= 3 * self._threads

    def submit(self, job: Job) -> None:
        """Fetch the next chunk of a job."""
        self.running += 1
        self._jobs.put(job)

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
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put((job, None if self.halted.is_set() else self._fetch(job)))

    def _fetch(self, job: Job) -> Chunk | Exception:
        try:
            with self._provider.pace.work(urgent=job.is_urgent):
                return job.next_chunk(self._provider.source)
        except ProviderFault as fault:
            if refusal_of(fault, self._provider.key_setting) is not None:
                self.halted.set()
            return fault
        except Exception as error:
            # An unexpected error in one job must not stop the others.
            log.exception("fetching %s on %s failed", job.wallets[0].address, job.chain)
            return error
