"""The rate limit of each key: flask-limiter, over counts that all workers share (docs/credits.md)."""

import math
import time
from typing import cast

from flask import Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from limits.limits import TIME_TYPES
from limits.storage import Storage
from valkey.exceptions import ValkeyError
from werkzeug.datastructures import Headers

from wallet_api.api.access.keyring import ApiKey
from wallet_api.api.access.settling import Settler
from wallet_api.api.access.shared_counts import LimitWindow, SharedCounts
from wallet_api.base.errors import RateLimited

# A worker may count this part of the remaining requests locally.
LOCAL_PART = 50
# How long after its end a window is dropped, and how often ended windows are searched for.
SWEEP_SECONDS = 5.0


class MeteredStorage(Storage):
    """A storage for `limits`: fixed windows, aligned to the clock.

    The store of a `metered+valkey://` or `metered+redis://` URL; `metered://` counts in this process.
    """

    STORAGE_SCHEME = [
        "metered",
        *("metered+valkey", "metered+valkeys", "metered+valkey+unix"),
        *("metered+redis", "metered+rediss", "metered+redis+unix"),
    ]

    def __init__(self, uri: str, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions, **options)
        self._counts = SharedCounts(uri.removeprefix("metered+")) if uri.startswith("metered+") else None
        # The time to which windows are aligned, in Unix seconds.
        self.now = time.time if self._counts is None else self._counts.now
        self._windows: dict[str, LimitWindow] = {}
        self._swept = time.monotonic()
        self._settler = Settler("limits", self._write, is_ready=self._can_settle)
        self.close = self._settler.close

    @property
    def store_state(self) -> str:
        """Whether the shared store is ok or away, by a request to it; none if none is configured."""
        if self._counts is None:
            return "none"
        return "ok" if self._counts.probe() else "away"

    @property
    def away(self) -> bool:
        """Whether there is a shared store that does not work."""
        return self._counts is not None and self._counts.away

    @property
    def is_shared(self) -> bool:
        """Whether all workers share their counts now."""
        return self._counts is not None and not self.away

    @property
    def base_exceptions(self) -> type[Exception]:
        """Return the errors of the store, which this class does not raise."""
        return ValkeyError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count `amount` requests; return the count with them, or more than the limit to refuse them."""
        window, limit = self._window(key)
        shared = self._counts if self.is_shared else None
        with window.lock:
            left = limit - window.known
            local = left if shared is None else left // LOCAL_PART
            if amount <= local - window.unsettled:
                self._settler.add(window, amount)
                return window.used
        # The store's count never falls, so that nothing more fits into this window once it is full.
        if shared is None or amount > left or not shared.add({window: window.send()}, amount, limit):
            return limit + amount
        return min(window.used, limit)

    def get(self, key: str) -> int:
        """Return the count of this process."""
        return self.state(key)[0]

    def get_expiry(self, key: str) -> float:
        """Return when the window ends, in Unix seconds."""
        return self.state(key)[1]

    def state(self, key: str) -> tuple[int, int]:
        """Return the count of this process, and when the window ends, in Unix seconds."""
        window, _ = self._window(key)
        with window.lock:
            return window.used, window.ends

    def check(self) -> bool:
        """Return False if a shared store is configured and does not work."""
        return self.store_state != "away"

    def clear(self, key: str) -> None:
        """Drop a window in this process."""
        self._windows.pop(self._window(key)[0].name)

    def reset(self) -> None:
        """Drop all windows in this process."""
        self._windows.clear()

    def _window(self, key: str) -> tuple[LimitWindow, int]:
        # limits names a window .../AMOUNT/MULTIPLES/GRANULARITY. A key whose amount changes keeps its count.
        head, amount, _, unit = key.rsplit("/", 3)
        seconds = TIME_TYPES[unit].seconds
        number = int(self.now() // seconds)
        name = f"{head}/{unit}/{number}"
        window = self._windows.get(name)
        if window is None:
            self._settler.start()
            self._drop_ended()
            window = self._windows.setdefault(name, LimitWindow(name, (number + 1) * seconds))
        return window, int(amount)

    def _drop_ended(self) -> None:
        if time.monotonic() - self._swept > SWEEP_SECONDS:
            self._swept = time.monotonic()
            for window in list(self._windows.values()):
                if window.ends + SWEEP_SECONDS < self.now():
                    self._windows.pop(window.name, None)
                    self._settler.drop(window)

    def _can_settle(self) -> bool:
        # While the store is away, what is pending waits.
        return self._counts is not None and (self.is_shared or self._counts.probe())

    def _write(self, amounts: dict[LimitWindow, int]) -> None:
        assert self._counts is not None
        self._counts.add(amounts)


class KeyLimiter:
    """Count the requests of each key, across all workers if there is a shared store."""

    def __init__(self, valkey_url: str | None) -> None:
        limiter = Limiter(
            # Of limits declared on routes, of which there are none: ours are counted by key, below.
            get_remote_address,
            # Not the app that serves requests: hooks into each of them would take a third of its speed.
            app=Flask(__name__),
            storage_uri=f"metered+{valkey_url}" if valkey_url else "metered://",
            strategy="fixed-window",
        )
        self._hit = limiter.limiter.hit
        self.windows = cast(MeteredStorage, limiter.storage)

    def count(self, key: ApiKey) -> bool:
        """Count one request; return whether it is within the limit."""
        return self._hit(key.limit, key.label)

    def refusal(self, key: ApiKey) -> RateLimited:
        """Return the error of a request that is not."""
        wait = max(1, math.ceil(self.remaining(key)[1] - self.windows.now()))
        return RateLimited(
            f"The limit of this API key is {key.limit.amount} requests per"
            f" {key.limit.GRANULARITY.name}."
            f" Try again in {wait} seconds.",
            retry_after_seconds=wait,
        )

    def remaining(self, key: ApiKey) -> tuple[int, int]:
        """Return how many requests are left in the current window, and when it ends, in Unix seconds."""
        # One look-up, where the strategy's statistics take two.
        used, ends = self.windows.state(key.window)
        return max(0, key.limit.amount - used), ends

    def set_headers(self, key: ApiKey, headers: Headers) -> None:
        """Add the rate-limit headers to a response."""
        remaining, reset = self.remaining(key)
        headers.add("X-RateLimit-Limit", str(key.limit.amount))
        headers.add("X-RateLimit-Remaining", str(remaining))
        headers.add("X-RateLimit-Reset", str(reset))
