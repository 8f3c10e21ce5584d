"""A storage for flask-limiter: fixed windows that all workers share, without asking the store at each call.

A call is counted in the store before it is let through, so a limit of N lets exactly N through, however many
workers and threads there are. While a key is busy and far from its limit, a worker counts up to LEASED_CALLS
ahead, lets them through by itself, and gives the rest back as soon as the calls stop. The last UNLEASED_CALLS
of a window are never leased, and before a call is refused, counts that may still come back are waited for.

So a remaining count is exact near the limit, and before that too small by what other workers hold, never
too large. A worker that is killed takes its lease with it until the window ends.

While the store is away every process goes on counting by itself, from what it last knew.
"""

import logging
import time
from threading import Event, Lock, Thread

from limits.storage import Storage

from wallet_api.access.counts import SharedCounts, StoreError
from wallet_api.access.keeper import Keeper

log = logging.getLogger(__name__)

LEASED_CALLS = 256
UNLEASED_CALLS = 1000
# A limit that a worker counts again this soon is busy.
BUSY_SECONDS = 0.02
# A lease that is not used for so long is returned, and one that is used is renewed, ...
IDLE_SECONDS = 0.1
RENEW_SECONDS = 0.2
# ... so whatever is out is back by then, or renewed.
AWAY_SECONDS = 0.5
WAIT_SECONDS = 0.025
REFUSED_SECONDS = 0.25
RETRY_SECONDS = 0.5
MAX_WINDOWS = 10_000


class _Window:
    """One limit's current window as this process knows it, in seconds of the monotonic clock."""

    def __init__(self, key: str, expiry: int) -> None:
        self.key = key
        # limits names a window .../AMOUNT/MULTIPLES/GRANULARITY, and tells the amount no other way.
        self.limit = int(key.rsplit("/", 3)[1])
        self.expiry = expiry
        self.lock = Lock()
        self.asked = 0.0  # when the store was asked last, for a call
        self.spent = 0.0  # when the lease was
        self.renewed = 0.0
        self.start("", 0.0)

    def start(self, born: str, ends: float) -> None:
        self.born = born
        self.ends = ends
        self.used = 0  # all that is counted, the rest of the lease included
        self.rest = 0  # leased, and not spent
        self.half = 0  # below that more is leased
        self.short = True
        self.offline = 0  # counted in used while the store was away
        self.refused = 0.0  # until when nothing is free for sure

    @property
    def leasable(self) -> bool:
        return self.limit - self.used > UNLEASED_CALLS + LEASED_CALLS

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
        self._leased: dict[str, _Window] = {}
        self._lock = Lock()
        self._keeper = Keeper("leases of limits", self._tend, self.give_back)
        self._ended = Event()
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
            if window.rest >= amount and now < window.ends:
                window.rest -= amount
                window.spent = now
                if window.rest < window.half and not window.short:
                    window.short = True
                    self._keeper.wake()
                return window.used - window.rest
            if now < window.refused:
                return window.limit + amount
            if self._counts is None or self.fallback_active:
                return window.count_here(amount, now)
            try:
                return self._count_there(self._counts, window, amount, now)
            except StoreError as error:
                self._fall_back(error)
                # Whether the rest was given back is unknown, so it counts as spent.
                window.rest = 0
                return window.count_here(amount, time.monotonic())

    def state(self, key: str) -> tuple[float, int]:
        """When the window ends, in Unix seconds, and how many calls this process knows to be counted.

        When there is none: now, and none.
        """
        window = self._windows.get(key)
        left = 0.0 if window is None else window.ends - time.monotonic()
        if window is None or left <= 0:
            return time.time(), 0
        return time.time() + left, window.used - window.rest

    def get(self, key: str) -> int:
        """How many calls this process knows to be counted."""
        return self.state(key)[1]

    def get_expiry(self, key: str) -> float:
        """When the window ends, in Unix seconds; now when there is none."""
        return self.state(key)[0]

    def check(self) -> bool:
        """Whether calls are counted across all workers, if they are meant to be; asks the store."""
        return self._counts is None or (not self.fallback_active and self._counts.answers())

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
        """Return what is leased and not spent, at the end of the process."""
        self._ended.set()
        self._keeper.close()
        for window in list(self._leased.values()):
            with window.lock:
                self._return_rest(window)

    def _open(self, key: str, expiry: int) -> _Window:
        with self._lock:
            if len(self._windows) >= MAX_WINDOWS:
                now = time.monotonic()
                self._windows = {name: known for name, known in self._windows.items() if known.ends > now}
            return self._windows.setdefault(key, _Window(key, expiry))

    def _count_there(self, counts: SharedCounts, window: _Window, calls: int, now: float) -> int:
        busy, window.asked = now - window.asked < BUSY_SECONDS, now
        while True:
            now = time.monotonic()
            counted = counts.count(
                window.key,
                calls,
                window.limit,
                window.expiry,
                born=window.born,
                adjust=window.offline - window.rest,
            )
            window.start(counted.born, now + counted.left_seconds)
            window.used = counted.used
            if counted.granted:
                break
            if counted.away_seconds <= 0:
                window.refused = min(now + REFUSED_SECONDS, window.ends)
                return window.limit + calls
            time.sleep(min(counted.away_seconds, WAIT_SECONDS))
        if busy and window.leasable:
            window.spent = now
            self._leased[window.key] = window
            self._keeper.wake()
        return window.used

    # What follows is the keeper's.

    def _tend(self) -> bool:
        for window in list(self._leased.values()):
            now = time.monotonic()
            if now - window.spent >= IDLE_SECONDS or now >= window.ends or not self._renew(window, now):
                with window.lock:
                    self._return_rest(window)
        return bool(self._leased)

    def _renew(self, window: _Window, now: float) -> bool:
        """Lease as much as a busy window should have; whether it may keep any."""
        if not window.short and now - window.renewed < RENEW_SECONDS:
            return True
        if self._counts is None or self.fallback_active:
            return False
        try:
            # Meanwhile calls go on spending, so their lock is not taken.
            counted = self._counts.count(
                window.key,
                0,
                window.limit,
                window.expiry,
                lease=max(0, LEASED_CALLS - window.rest),
                free_after=UNLEASED_CALLS,
                away_seconds=AWAY_SECONDS,
            )
        except StoreError as error:
            self._fall_back(error)
            return False
        with window.lock:
            if counted.born != window.born:
                window.start(counted.born, now + counted.left_seconds)
            window.used = max(window.used, counted.used)
            window.rest += counted.granted
            window.half, window.short = window.rest // 2, False
            window.renewed = now
            return window.leasable

    def _return_rest(self, window: _Window) -> None:
        self._leased.pop(window.key, None)
        if self._counts is None or self.fallback_active or not window.rest or time.monotonic() >= window.ends:
            return
        rest, window.rest = window.rest, 0
        try:
            counted = self._counts.count(
                window.key, 0, window.limit, window.expiry, born=window.born, adjust=-rest
            )
        except StoreError as error:
            self._fall_back(error)
            return
        if counted.born == window.born:
            window.used = counted.used

    def _fall_back(self, error: StoreError) -> None:
        with self._lock:
            if self.fallback_active:
                return
            self.fallback_active = True
            log.warning("The store of rate limits is away; each worker counts by itself: %s", error)
            Thread(target=self._await_store, name="store of limits", daemon=True).start()

    def _await_store(self) -> None:
        while not self._ended.wait(RETRY_SECONDS):
            if self._counts is None or self._counts.answers():
                self.fallback_active = False
                log.warning("The store of rate limits is back.")
                return
