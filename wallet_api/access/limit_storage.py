"""A storage for `limits`: fixed windows, aligned to the clock, shared by all workers (docs/credits.md)."""

import logging
import time
from threading import Lock

from limits.storage import Storage

from wallet_api.access.shared_counts import Count, Counted, SharedCounts, StoreError
from wallet_api.recurring import Recurring

log = logging.getLogger(__name__)

SETTLE_SECONDS = 0.05
# Of what is left a worker counts this part by itself before it counts in the store.
ALONE_PART = 50
SWEEP_SECONDS = 60.0

_LENGTHS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}


class _Window:
    """One key's current window. `known` is the store's count when it last replied.

    `pending` was let through since; `sent` is on its way, and may include what will not be let through.
    """

    def __init__(self, name: str, seconds: int) -> None:
        self.name = name
        self.seconds = seconds
        self.lock = Lock()
        self.number = self.known = self.pending = self.sent = 0

    @property
    def used(self) -> int:
        return self.known + self.sent + self.pending

    @property
    def ends(self) -> int:
        return (self.number + 1) * self.seconds

    def move(self, now: float) -> None:
        """Move to the window of `now`. The estimate of the store's clock may go back a little."""
        number = int(now // self.seconds)
        if number > self.number or number < self.number - 1:
            self.number = number
            self.known = self.pending = self.sent = 0

    def send(self, calls: int, limit: int, now: float) -> Count:
        """Return what to send: the pending count, and `calls` more."""
        left = max(0.0, self.ends - now)
        count = Count(f"{self.name}/{self.number}", self.known, self.pending, calls, limit, left)
        self.sent += self.pending + calls
        self.pending = 0
        return count

    def receive(self, count: Count, counted: Counted | None) -> None:
        """Apply the reply. Without one, the pending count is treated as known, and not sent again."""
        if count.name == f"{self.name}/{self.number}":
            self.sent -= count.pending + count.calls
            self.known = max(self.known, counted[0]) if counted else self.known + count.pending


class MeteredStorage(Storage):
    """The store of a `metered+valkey://` or `metered+redis://` URL; `metered://` counts in this process."""

    STORAGE_SCHEME = [
        "metered",
        *("metered+valkey", "metered+valkeys", "metered+valkey+unix"),
        *("metered+redis", "metered+rediss", "metered+redis+unix"),
    ]

    def __init__(self, uri: str, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions, **options)
        self.away = False
        self._counts = SharedCounts(uri.removeprefix("metered+")) if uri.startswith("metered+") else None
        # The time to which windows are aligned, in Unix seconds.
        self.now = time.time if self._counts is None else self._counts.now
        self._windows: dict[str, _Window] = {}
        self._counted: dict[str, _Window] = {}
        self._swept = time.monotonic()
        self._settler = Recurring("limits", self._settle, SETTLE_SECONDS)
        self.close = self._settler.close

    @property
    def is_shared(self) -> bool:
        """Whether all workers share their counts now."""
        return self._counts is not None and not self.away

    @property
    def base_exceptions(self) -> type[Exception]:
        """Return the errors of the store, which this class does not raise."""
        return StoreError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count `amount` requests; return the count with them, or more than the limit to refuse them."""
        window, limit = self._window(key)
        now = self.now()
        with window.lock:
            window.move(now)
            if self._counts is None or self.away:
                return self._count_alone(window, limit, amount)
            # A count never falls, so that nothing more fits into this window.
            if window.known + amount > limit:
                return limit + amount
            if window.pending + window.sent + amount <= (limit - window.known) // ALONE_PART:
                return self._count_alone(window, limit, amount)
            count = window.send(amount, limit, now)
        try:
            (counted,) = self._counts.add([count])
        except StoreError as error:
            self._fall_back(error)
            counted = None
        with window.lock:
            window.receive(count, counted)
            if counted is None:
                return self._count_alone(window, limit, amount, maybe_stored=True)
            return min(window.used, limit) if counted[1] else limit + amount

    def state(self, key: str) -> tuple[float, int]:
        """Return when the window ends, in Unix seconds, and the count of this process."""
        window, _ = self._window(key)
        with window.lock:
            window.move(self.now())
            return window.ends, window.used

    def get(self, key: str) -> int:
        """Return the count of this process."""
        return self.state(key)[1]

    def get_expiry(self, key: str) -> float:
        """Return when the window ends, in Unix seconds."""
        return self.state(key)[0]

    def check(self) -> bool:
        """Return False if a shared store is configured and does not work."""
        try:
            if self._counts is not None:
                self._counts.probe()
        except StoreError:
            return False
        return not self.away

    def clear(self, key: str) -> None:
        """Drop a window in this process."""
        self._windows.pop(self._window(key)[0].name)

    def reset(self) -> None:
        """Drop all windows in this process."""
        self._windows.clear()

    def _window(self, key: str) -> tuple[_Window, int]:
        # limits names a window .../AMOUNT/MULTIPLES/GRANULARITY. A key whose amount changes keeps its count.
        head, amount, _, unit = key.rsplit("/", 3)
        name = f"{head}/{unit}"
        window = self._windows.get(name)
        if window is None:
            self._settler.start()
            window = self._windows.setdefault(name, _Window(name, _LENGTHS[unit]))
        return window, int(amount)

    def _count_alone(self, window: _Window, limit: int, calls: int, *, maybe_stored: bool = False) -> int:
        if window.used + calls > limit:
            return limit + calls
        if maybe_stored:
            window.known += calls
        else:
            window.pending += calls
            self._counted[window.name] = window
        return window.used

    def _settle(self) -> None:
        if time.monotonic() - self._swept > SWEEP_SECONDS:
            self._swept = time.monotonic()
            for name, window in list(self._windows.items()):
                if window.ends + SWEEP_SECONDS < self.now():
                    self._windows.pop(name, None)
        if self._counts is None:
            return
        try:
            if self.away:
                self._counts.probe()
                self.away = False
                log.warning("The store of rate limits is back.")
            self._send_all(self._counts)
        except StoreError as error:
            self._fall_back(error)

    def _send_all(self, counts: SharedCounts) -> None:
        windows = [self._counted.popitem()[1] for _ in range(len(self._counted))]
        sent: list[tuple[_Window, Count]] = []
        for window in windows:
            with window.lock:
                if window.pending:
                    sent.append((window, window.send(0, 0, self.now())))
        replies: list[Counted | None] = [None] * len(sent)
        try:
            if sent:
                replies = counts.add([count for _, count in sent])
        finally:
            for (window, count), counted in zip(sent, replies, strict=True):
                with window.lock:
                    window.receive(count, counted)

    def _fall_back(self, error: StoreError) -> None:
        if not self.away:
            self.away = True
            log.warning("The store of rate limits is away; each worker counts by itself: %s", error)
