"""The response to a holdings request: fresh, stale, loading or unavailable, within the configured wait."""

import math
import threading
import time
from collections.abc import Mapping
from concurrent.futures import wait
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter

from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.base.cache import Cache
from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import Busy, ServiceUnavailable
from wallet_api.chain.providers.balances import make_provider, missing_settings
from wallet_api.chain.providers.faults import BreakerOpen, NotConfigured
from wallet_api.chain.providers.fetch import Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.database import Database
from wallet_api.holdings.formatting import Filter, FormattedSnapshot, format_snapshot
from wallet_api.holdings.refresh import Refresher
from wallet_api.holdings.snapshots import AwaitTurn, Snapshot, Snapshots, WalletState
from wallet_api.ledger.files.readers import read_denied
from wallet_api.settings import Settings

# How often a request polls for the snapshot of another worker: the first and the longest interval.
_FIRST_POLL_SECONDS = 0.02
_POLL_SECONDS = 0.2
# A claim expires this long after the longest fetch, so that its result can be saved.
_CLAIM_MARGIN_SECONDS = 2.0


class HoldingsUnavailable(ServiceUnavailable):
    """The provider of balances is not available right now. Try again shortly."""


class ProviderNotConfigured(HoldingsUnavailable):
    """No provider of balances is configured for the chain; only the operator can change that."""

    def __init__(self) -> None:
        # Without Retry-After: waiting does not help.
        super().__init__(NotConfigured().message, reason="provider_not_configured", retry_after_seconds=None)


@dataclass(frozen=True, slots=True)
class Holdings:
    """The holdings of a wallet. `snapshot` is None while loading.

    `cached` is false if the request waited for the provider.
    """

    snapshot: Snapshot | FormattedSnapshot | None
    stale: bool
    cached: bool


class HoldingsService:
    """The holdings operation of one process. Thread-safe; to be created in the worker, after the fork."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        bulkhead: Bulkhead,
        await_turn: AwaitTurn,
        registry: CollectorRegistry,
    ) -> None:
        self._bulkhead = bulkhead
        self._await_turn = await_turn
        self._ttl = settings.holdings_ttl_seconds
        self._wait_seconds = settings.holdings_wait_seconds
        self._shown = Filter(settings.holdings_keep_spam, read_denied(settings.token_denylist))
        metrics = FetchMetrics(registry)
        self._responses = Counter(
            "wallet_api_holdings_answers",
            "Responses with holdings, by state: fresh, stale, loading, unavailable.",
            ("chain", "state"),
            registry=registry,
        )
        limits = Limits.from_settings(settings)
        self._snapshots = Snapshots(
            database,
            bulkhead,
            await_turn,
            ttl_seconds=self._ttl,
            claim_seconds=limits.total_seconds + _CLAIM_MARGIN_SECONDS,
        )
        self._cache: Cache[FormattedSnapshot] = Cache(
            self._ttl,
            max_size=settings.holdings_cache_bytes,
            size_of=lambda snapshot: len(snapshot.tokens),
        )
        self._unconfigured = missing_settings(settings)
        # Another lock than that of responses, which do not wait for a provider.
        large = threading.Lock()
        self._refreshers: Mapping[str, Refresher] = {
            chain.name: Refresher(
                chain,
                make_provider(chain, settings, limits, metrics),
                self._snapshots,
                self._cache,
                large,
                slots=limits.connections,
                failure_seconds=settings.holdings_failure_seconds,
                shown=self._shown,
            )
            for chain in CHAINS.values()
            if chain.name not in self._unconfigured
        }

    def read(self, blockchain: str, address: str) -> Holdings:
        """Return the balances of a tracked wallet, `address` in its stored form.

        Raise NotFound if the wallet is not tracked, HoldingsUnavailable if its provider failed or is not
        configured, and there is no snapshot. Raise Busy if the balances are large, and another request has
        large ones in memory.
        """
        try:
            holdings = self._read(blockchain, address)
        except HoldingsUnavailable:
            self._responses.labels(blockchain, "unavailable").inc()
            raise
        state = "loading" if holdings.snapshot is None else "stale" if holdings.stale else "fresh"
        self._responses.labels(blockchain, state).inc()
        if isinstance(holdings.snapshot, FormattedSnapshot):
            self._await_turn(holdings.snapshot.count)
        return holdings

    def format(self, blockchain: str, snapshot: Snapshot | FormattedSnapshot) -> FormattedSnapshot:
        """Return a snapshot from `read` with formatted rows; a cached one is returned unchanged."""
        if isinstance(snapshot, FormattedSnapshot):
            return snapshot
        return format_snapshot(CHAINS[blockchain], snapshot, self._shown)

    def close(self) -> None:
        """Close the connections to the providers."""
        for refresher in self._refreshers.values():
            refresher.close()

    def _read(self, blockchain: str, address: str) -> Holdings:
        cached = self._cache.find((blockchain, address))
        if cached is not None:
            return Holdings(cached, stale=False, cached=True)
        wallet = self._snapshots.find(blockchain, address)
        if wallet.snapshot is None:
            return self._wait_for_first(blockchain, address, wallet)
        if wallet.snapshot.age_seconds < self._ttl:
            formatted = self.format(blockchain, wallet.snapshot)
            self._cache.put((blockchain, address), formatted, formatted.taken_at)
            return Holdings(formatted, stale=False, cached=True)
        if blockchain in self._unconfigured:
            return Holdings(wallet.snapshot, stale=True, cached=True)
        refresher = self._refreshers[blockchain]
        if not (wallet.refreshing or wallet.pause_seconds or refresher.pause_seconds()):
            refresher.start(wallet.wallet_id, address)
        return Holdings(wallet.snapshot, stale=True, cached=True)

    def _wait_for_first(self, blockchain: str, address: str, wallet: WalletState) -> Holdings:
        if blockchain in self._unconfigured:
            # Only the log names the variable.
            raise ProviderNotConfigured from NotConfigured(f"{self._unconfigured[blockchain]} is not set")
        deadline = time.monotonic() + self._wait_seconds
        refresher = self._refreshers[blockchain]
        poll_seconds = _FIRST_POLL_SECONDS
        while wallet.snapshot is None:
            _raise_failure(wallet, refresher)
            done = refresher.running(wallet.wallet_id)
            if done is None and not wallet.refreshing:
                done = refresher.start(wallet.wallet_id, address)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return Holdings(None, stale=False, cached=False)
            try:
                # Without a free slot the request does not wait.
                with self._bulkhead.slot(Wait.PROVIDER, wait=False):
                    if done is not None:
                        wait([done], remaining)
                    else:
                        time.sleep(min(poll_seconds, remaining))
                        poll_seconds = min(2 * poll_seconds, _POLL_SECONDS)
            except Busy:
                return Holdings(None, stale=False, cached=False)
            formatted = self._cache.find((blockchain, address))
            if formatted is not None:
                return Holdings(formatted, stale=False, cached=False)
            wallet = self._snapshots.find(blockchain, address)
        return Holdings(wallet.snapshot, stale=False, cached=False)


def _raise_failure(wallet: WalletState, refresher: Refresher) -> None:
    """Raise HoldingsUnavailable if the wallet's refresh just failed, or its provider's breaker is open."""
    message, pause_seconds = wallet.failure, wallet.pause_seconds
    if not pause_seconds and not wallet.refreshing:
        message, pause_seconds = BreakerOpen().message, refresher.pause_seconds()
    # The fetch found a setting that is wrong, such as a node of another chain.
    if pause_seconds and message == NotConfigured().message:
        raise ProviderNotConfigured
    if pause_seconds:
        raise HoldingsUnavailable(
            f"The balances of this wallet cannot be read right now. {message}",
            retry_after_seconds=math.ceil(pause_seconds),
        )
