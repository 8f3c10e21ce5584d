"""The refresh of wallets in background threads: a few at a time for each chain, each wallet by one worker."""

import logging
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from wallet_api.base.cache import Cache
from wallet_api.base.chains import Chain
from wallet_api.base.errors import ApiError
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.holdings.formatting import Filter, FormattedSnapshot, format_snapshot
from wallet_api.holdings.snapshots import Claim, Snapshots

log = logging.getLogger(__name__)

# A provider's Retry-After applies to its breaker in full, and to a single wallet up to this.
MAX_RETRY_AFTER_SECONDS = 60.0


class Refresher:
    """Refreshes the wallets of one chain, at most `slots` at a time.

    A provider that hangs therefore blocks few threads, and no other chain. The threads are daemons, so that
    the process can exit without them.
    """

    def __init__(
        self,
        chain: Chain,
        provider: BalanceProvider,
        snapshots: Snapshots,
        cache: Cache[FormattedSnapshot],
        large: threading.Lock,
        *,
        slots: int,
        failure_seconds: float,
        shown: Filter,
    ) -> None:
        self._chain = chain
        self._provider = provider
        self._snapshots = snapshots
        self._cache = cache
        self._large = large
        self._slots = threading.BoundedSemaphore(slots)
        self._failure_seconds = failure_seconds
        self._shown = shown
        self._lock = threading.Lock()
        self._running: dict[int, Future[None]] = {}

    def pause_seconds(self) -> float:
        """Return for how long the breaker stops requests to the provider; 0 if it is closed."""
        return self._provider.fetcher.breaker.remaining_seconds()

    def close(self) -> None:
        """Close the connections to the provider. Running fetches may fail."""
        self._provider.fetcher.close()

    def running(self, wallet_id: int) -> Future[None] | None:
        """Return the refresh of this wallet by this process; None if no refresh is running."""
        return self._running.get(wallet_id)

    def start(self, wallet_id: int, address: str) -> Future[None] | None:
        """Start to refresh the wallet, unless this or another process already refreshes it.

        Return a future that is done when the refresh has ended; None if all slots are in use.
        """
        with self._lock:
            running = self._running.get(wallet_id)
            if running is not None or not self._slots.acquire(blocking=False):
                return running
            ended: Future[None] = Future()
            self._running[wallet_id] = ended
        name = f"holdings-{self._chain.name}"
        try:
            threading.Thread(
                target=self._run, args=(wallet_id, address, ended), name=name, daemon=True
            ).start()
        except RuntimeError:
            # The system has no more threads.
            self._end(wallet_id, ended)
            raise
        return ended

    def _end(self, wallet_id: int, ended: Future[None]) -> None:
        del self._running[wallet_id]
        self._slots.release()
        ended.set_result(None)

    def _run(self, wallet_id: int, address: str, ended: Future[None]) -> None:
        try:
            claim = self._snapshots.claim(wallet_id)
            if claim is not None:
                self._fetch(claim, address)
        except ApiError as error:
            # The database is unavailable; the claim expires.
            log.warning("holdings refresh of wallet_id=%d failed: %s", wallet_id, error.message)
        except Exception:
            log.exception("holdings refresh of wallet_id=%d crashed", wallet_id)
        finally:
            self._end(wallet_id, ended)

    def _fetch(self, claim: Claim, address: str) -> None:
        known_tokens = partial(self._snapshots.known_tokens, claim["wallet_id"])
        with ExitStack() as large:

            def await_turn(seconds: float) -> bool:
                """Wait for the end of another large fetch, and hold the lock until the balances are saved."""
                is_next = self._large.acquire(timeout=seconds)
                if is_next:
                    large.callback(self._large.release)
                return is_next

            try:
                with self._provider.fetcher.begin(self._chain.name, await_turn) as fetch:
                    balances = self._provider.balances(address, known_tokens, fetch)
                    balances = replace(balances, left_out=fetch.left_out)
            except ProviderFault as fault:
                pause = min(fault.retry_after_seconds or 0.0, MAX_RETRY_AFTER_SECONDS)
                pause = max(pause, fault.remember_seconds, self._failure_seconds)
                self._snapshots.fail(claim, fault.message, pause)
            except BaseException:
                self._snapshots.fail(claim, ProviderFault().message, self._failure_seconds)
                raise
            else:
                snapshot = self._snapshots.save(claim, balances)
                if snapshot is not None:
                    formatted = format_snapshot(self._chain, snapshot, self._shown)
                    self._cache.put((self._chain.name, address), formatted, formatted.taken_at)
