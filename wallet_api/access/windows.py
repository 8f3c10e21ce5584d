"""A storage for flask-limiter: fixed windows that all workers share, without asking the store at each call.

A call is counted in the store before it is let through, so a limit of N lets exactly N through, however
many workers and threads there are. While a key is busy and far from its limit, a worker counts up to
MAX_LEASE calls ahead, lets them through by itself, and gives the rest back after LEASE_SECONDS. The last
FREE_AFTER_LEASE calls of a window are never leased, and before a call is refused, leases that may still
come back are waited for.

So a remaining count is exact near the limit, and before that too small by what other workers hold, never
too large. A worker that is killed takes its lease with it until the window ends.

While the store is away every process goes on counting by itself, from what it last knew.
"""

import atexit
import logging
import time
from threading import Event, Lock, Thread

from limits.storage import Storage

from wallet_api.access.counts import SharedCounts, StoreError

log = logging.getLogger(__name__)

MAX_LEASE = 256
FREE_AFTER_LEASE = 1000
LEASE_SECONDS = 0.1
# What a worker asks for again this soon is busy.
BUSY_SECONDS = 0.02
REFUSED_SECONDS = 0.25
RETRY_SECONDS = 0.5
MAX_WINDOWS = 10_000


class _Window:
    """One limit's current window as this process knows it, in seconds of the monotonic clock."""

    def __init__(self, limit: int, expiry: int) -> None:
        self.lock = Lock()
        self.limit = limit
        self.expiry = expiry
        self.asked = 0.0
        self.start("", 0.0)

    def start(self, born: str, ends: float) -> None:
        self.born = born
        self.ends = ends
        self.used = 0  # all that is counted, the rest of the lease included
        self.rest = 0  # leased, and not spent
        self.offline = 0  # counted in used while the store was away
        self.lease_ends = 0.0
        self.refused = 0.0  # until when nothing is free for sure

    def count_here(self, calls: int, now: float) -> int:
        """Count without the store; the count with these calls, or more than the limit."""
        if now >= self.ends:
            self.start("", now + self.expiry)
        if self.used - self.rest + calls > self.limit:
            return self.limit + calls
        own = min(self.rest, calls)
        self.rest -= own
        self.used += calls - own
        self.offline += calls - own
        return self.used - self.rest


class LeasedStorage(Storage):
    """The store of a `leased+valkey://` or `leased+redis://` URL; `leased://` counts in this process only."""

    STORAGE_SCHEME = [
        "leased",
        "leased+valkey",
        "leased+valkeys",
        "leased+valkey+unix",
        "leased+redis",
        "leased+rediss",
        "leased+redis+unix",
    ]

    def __init__(self, uri: str, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions, **options)
        shared = uri.startswith("leased+")
        self._counts = SharedCounts(uri.removeprefix("leased+")) if shared else None
        self._windows: dict[str, _Window] = {}
        self._lock = Lock()
        self._leased: dict[str, _Window] = {}
        self._leasing = Event()
        self._keeper: Thread | None = None
        self.fallback_active = False

    @property
    def base_exceptions(self) -> type[Exception]:
        """What the store raises; none of it gets out of here."""
        return StoreError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count `amount` calls; the count with them, or more than the limit when they are refused."""
        window = self._windows.get(key) or self._open(key, expiry)
        with window.lock:
            now = time.monotonic()
            if window.rest >= amount and now < window.lease_ends and now < window.ends:
                window.rest -= amount
                return window.used - window.rest
            if now < window.refused:
                return window.limit + amount
            if self._counts is None or self.fallback_active:
                return window.count_here(amount, now)
            try:
                return self._count_there(self._counts, key, window, amount)
            except StoreError as error:
                self._fall_back(error)
                # Whether the rest was given back is unknown, so it counts as spent.
                window.rest = 0
                return window.count_here(amount, time.monotonic())

    def get(self, key: str) -> int:
        """How many calls this process knows to be counted."""
        window = self._windows.get(key)
        if window is None or time.monotonic() >= window.ends:
            return 0
        return window.used - window.rest

    def get_expiry(self, key: str) -> float:
        """When the window ends, in Unix seconds; now when there is none."""
        window = self._windows.get(key)
        left = 0.0 if window is None else max(0.0, window.ends - time.monotonic())
        return time.time() + left

    def check(self) -> bool:
        """Whether calls are counted across all workers, if they are meant to be; asks the store."""
        return not self.fallback_active and (self._counts is None or self._counts.answers())

    def clear(self, key: str) -> None:
        """Start the window of `key` anew, as far as this process can."""
        self._windows.pop(key, None)
        if self._counts is not None:
            self._counts.forget(key)

    def reset(self) -> int:
        """Start all windows that this process knows anew."""
        keys = list(self._windows)
        for key in keys:
            self.clear(key)
        return len(keys)

    def give_back(self) -> None:
        """Return what is leased and not spent, such as at the end of the process."""
        for key, window in list(self._leased.items()):
            with window.lock:
                self._return_rest(key, window)

    def _open(self, key: str, expiry: int) -> _Window:
        with self._lock:
            if len(self._windows) >= MAX_WINDOWS:
                now = time.monotonic()
                self._windows = {name: known for name, known in self._windows.items() if known.ends > now}
            # limits names a window .../AMOUNT/MULTIPLES/GRANULARITY, and tells the amount no other way.
            return self._windows.setdefault(key, _Window(int(key.rsplit("/", 3)[1]), expiry))

    def _count_there(self, counts: SharedCounts, key: str, window: _Window, calls: int) -> int:
        asked = time.monotonic()
        busy = asked - window.asked < BUSY_SECONDS
        window.asked = asked
        while True:
            now = time.monotonic()
            counted = counts.count(
                key,
                calls,
                window.limit,
                window.expiry,
                born=window.born,
                adjust=window.offline - window.rest,
                lease=MAX_LEASE if busy else 0,
                free_after=FREE_AFTER_LEASE,
                # As long again for the way back.
                lease_seconds=2 * LEASE_SECONDS,
            )
            window.start(counted.born, now + counted.left_seconds)
            window.used = counted.used
            if counted.granted:
                break
            if counted.lent_seconds <= 0:
                window.refused = min(now + REFUSED_SECONDS, window.ends)
                return window.limit + calls
            time.sleep(min(counted.lent_seconds, LEASE_SECONDS / 4))
        window.rest = counted.granted - calls
        if window.rest:
            window.lease_ends = now + LEASE_SECONDS
            self._leased[key] = window
            self._keep()
        return window.used - window.rest

    def _return_rest(self, key: str, window: _Window) -> None:
        self._leased.pop(key, None)
        if self._counts is None or self.fallback_active or not window.rest or time.monotonic() >= window.ends:
            return
        rest, window.rest = window.rest, 0
        try:
            counted = self._counts.count(key, 0, window.limit, window.expiry, born=window.born, adjust=-rest)
        except StoreError as error:
            self._fall_back(error)
            return
        if counted.born == window.born:
            window.used = counted.used

    def _keep(self) -> None:
        self._leasing.set()
        if self._keeper is None:
            with self._lock:
                if self._keeper is None:
                    atexit.register(self.give_back)
                    self._keeper = Thread(target=self._return_leases, name="rate-leases", daemon=True)
                    self._keeper.start()

    def _return_leases(self) -> None:
        while self._leasing.wait():
            time.sleep(LEASE_SECONDS / 2)
            self._leasing.clear()
            for key, window in list(self._leased.items()):
                with window.lock:
                    if time.monotonic() >= window.lease_ends:
                        self._return_rest(key, window)
            if self._leased:
                self._leasing.set()

    def _fall_back(self, error: StoreError) -> None:
        with self._lock:
            if self.fallback_active:
                return
            self.fallback_active = True
            log.warning("The store of rate limits is away; each worker counts by itself: %s", error)
            Thread(target=self._await_store, name="rate-store", daemon=True).start()

    def _await_store(self) -> None:
        while self._counts is not None:
            time.sleep(RETRY_SECONDS)
            if self._counts.answers():
                break
        self.fallback_active = False
        log.warning("The store of rate limits is back.")
