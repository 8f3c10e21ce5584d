"""A circuit breaker: it stops requests to a provider that fails repeatedly, then admits a single fetch."""

import threading
import time
from collections import Counter

from wallet_api.chain.providers.faults import BreakerOpen, ProviderFault


class Breaker:
    """Opens for `cooldown_seconds` after `failures` consecutive failures of a provider."""

    def __init__(self, failures: int, cooldown_seconds: float) -> None:
        self._limit = failures
        self._cooldown = cooldown_seconds
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()
        self._open_until = 0.0

    def remaining_seconds(self) -> float:
        """Return for how long the breaker stays open; 0 if it is closed."""
        with self._lock:
            return max(0.0, self._open_until - time.monotonic())

    def admit(self) -> None:
        """Admit a fetch, or raise BreakerOpen. After the pause one fetch is admitted before all others."""
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                raise BreakerOpen(retry_after_seconds=self._open_until - now)
            if self._open_until:
                self._open_until = now + self._cooldown

    def succeeded(self) -> None:
        """Close the breaker."""
        with self._lock:
            self._failures.clear()
            self._open_until = 0.0

    def failed(self, fault: ProviderFault) -> None:
        """Count a failure. The pause is the one that the provider requested, if any."""
        with self._lock:
            self._failures[fault.outcome] += 1
            has_struck_out = fault.strikes is not None and self._failures[fault.outcome] >= fault.strikes
            if has_struck_out or self._failures.total() >= self._limit or self._open_until:
                pause = self._cooldown if fault.retry_after_seconds is None else fault.retry_after_seconds
                self._open_until = time.monotonic() + pause
