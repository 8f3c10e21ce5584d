"""A breaker: after repeated failures a provider is left alone for a while, then tried by one call first."""

import threading
import time
from collections import Counter

from wallet_api.providers.faults import BreakerOpen, ProviderFault


class Breaker:
    """Counts the failures in a row of one provider; opens at `failures` of them for `cooldown_seconds`."""

    def __init__(self, failures: int, cooldown_seconds: float) -> None:
        self._limit = failures
        self._cooldown = cooldown_seconds
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()
        self._open_until = 0.0

    def remaining_seconds(self) -> float:
        """For how long nobody should ask; 0 when the provider may be asked."""
        with self._lock:
            return max(0.0, self._open_until - time.monotonic())

    def admit(self) -> None:
        """Let this fetch go out, or raise BreakerOpen. After the pause one goes out before all others."""
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                raise BreakerOpen(retry_after_seconds=self._open_until - now)
            if self._open_until:
                self._open_until = now + self._cooldown

    def succeeded(self) -> None:
        """The provider works."""
        with self._lock:
            self._failures.clear()
            self._open_until = 0.0

    def failed(self, fault: ProviderFault) -> None:
        """The provider failed so; it is left alone for as long as it asked for, if it did."""
        with self._lock:
            self._failures[fault.outcome] += 1
            own_limit = fault.strikes is not None and self._failures[fault.outcome] >= fault.strikes
            if own_limit or self._failures.total() >= self._limit or self._open_until:
                pause = self._cooldown if fault.retry_after_seconds is None else fault.retry_after_seconds
                self._open_until = time.monotonic() + pause
