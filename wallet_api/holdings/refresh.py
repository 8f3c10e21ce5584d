"""The refresh of wallets in background threads: a few at a time for each chain, each wallet by one worker."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cachetools import TLRUCache

from wallet_api.chains import Chain
from wallet_api.errors import ApiError
from wallet_api.holdings.formatting import FormattedSnapshot, format_snapshot
from wallet_api.holdings.snapshots import Claim, Snapshots
from wallet_api.large import Large, Share
from wallet_api.providers.balances.base import BalanceProvider, Wallet
from wallet_api.providers.faults import ProviderFault
from wallet_api.single_flight import Flight, SingleFlight

log = logging.getLogger(__name__)

# A provider's Retry-After applies to its breaker in full, and to a single wallet up to this.
MAX_RETRY_AFTER_SECONDS = 60.0


class Cache:
    """The formatted snapshots of this process, at most `max_bytes`, each until it is stale."""

    def __init__(self, ttl_seconds: float, max_bytes: int) -> None:
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self._entries: TLRUCache[tuple[str, str], FormattedSnapshot] = TLRUCache(
            max_bytes,
            ttu=lambda key, snapshot, now: snapshot.taken_at + ttl_seconds,
            getsizeof=lambda snapshot: len(snapshot.tokens),
        )

    def get(self, key: tuple[str, str]) -> FormattedSnapshot | None:
        """Return the snapshot of (blockchain, address), if it is fresh."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: tuple[str, str], snapshot: FormattedSnapshot) -> None:
        """Store a snapshot until it is stale."""
        with self._lock:
            if len(snapshot.tokens) <= self._max_bytes:
                self._entries[key] = snapshot


class Refresher:
    """Refreshes the wallets of one chain, at most `slots` at a time.

    So a provider that hangs blocks few threads, and no other chain. The threads are daemons: a process that
    exits does not wait for them.
    """

    def __init__(
        self,
        chain: Chain,
        provider: BalanceProvider,
        snapshots: Snapshots,
        cache: Cache,
        large: Large,
        *,
        slots: int,
        failure_seconds: float,
        keep_spam: bool,
    ) -> None:
        self._chain = chain
        self._provider = provider
        self._snapshots = snapshots
        self._cache = cache
        self._large = large
        self._slots = threading.BoundedSemaphore(slots)
        self._failure_seconds = failure_seconds
        self._keep_spam = keep_spam
        self._flights: SingleFlight[None] = SingleFlight()

    def pause_seconds(self) -> float:
        """Return for how long the provider gets no requests; 0 if it does."""
        return self._provider.fetcher.breaker.remaining_seconds()

    def close(self) -> None:
        """Close the connections to the provider. Running fetches may fail."""
        self._provider.fetcher.session.close()

    def running(self, wallet_id: int) -> Flight[None] | None:
        """Return the refresh of this wallet by this process; None if no refresh is running."""
        return self._flights.find(wallet_id)

    def start(self, wallet_id: int, address: str) -> Flight[None] | None:
        """Start to refresh the wallet, unless this or another process does so already.

        Return a future that is done when the refresh has ended; None if all slots are in use.
        """
        flight = self._flights.find(wallet_id)
        if flight is not None or not self._slots.acquire(blocking=False):
            return flight
        flight, is_new = self._flights.join(wallet_id)
        if not is_new:
            self._slots.release()
            return flight
        try:
            self._flights.start(wallet_id, flight, partial(self._run, wallet_id, address), self._start_thread)
        except RuntimeError:
            # The system has no more threads.
            self._slots.release()
            raise
        return flight

    def _start_thread(self, run: Callable[[], object]) -> None:
        threading.Thread(target=run, name=f"holdings-{self._chain.name}", daemon=True).start()

    def _run(self, wallet_id: int, address: str) -> None:
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
            self._slots.release()

    def _fetch(self, claim: Claim, address: str) -> None:
        # Shared until the end, since the balances are in memory until then.
        with self._large.share() as share:
            self._fetch_within(claim, address, share)

    def _fetch_within(self, claim: Claim, address: str, share: Share) -> None:
        wallet = Wallet(self._chain, address, lambda: self._snapshots.known_tokens(claim.wallet_id))
        try:
            with self._provider.fetcher.begin(self._chain.name, share) as fetch:
                balances = self._provider.balances(wallet, fetch)
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
                formatted = format_snapshot(self._chain, snapshot, keep_spam=self._keep_spam)
                self._cache.put((self._chain.name, address), formatted)
