"""A cache in memory: each value is computed once for all threads that need it."""

import math
import time
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from cachetools import TLRUCache

Value = TypeVar("Value")
# Enters a slot of a bulkhead (`Bulkhead.slot`); the argument `wait` is whether to wait for one.
Slot = Callable[..., AbstractContextManager[None]]
# How many times its lifetime a value is kept: the next one may use again what was made of it, if it is equal.
_KEPT_TTLS = 1.25


@dataclass(frozen=True, slots=True)
class Cached(Generic[Value]):
    """A value, computed from `made_at` on in `took_seconds`; a `hit` was computed for another request."""

    value: Value
    made_at: float
    took_seconds: float = 0.0
    hit: bool = True

    def age_seconds(self, now: float) -> int:
        """Return the age at `now` in whole seconds; 0 if it was computed for this request."""
        return int(now - self.made_at) if self.hit else 0


class Cache(Generic[Value]):
    """The values of one process, by key.

    No value is older than `ttl_seconds` when it is requested; with 0 nothing is cached. Shortly before it
    expires, a thread that requests it, or one of the `executor`, computes it again, while others get the old
    one. With `serve_stale` an expired one is returned until there is a new one; others are dropped soon.

    The least recently used values are dropped when the sum of their sizes exceeds `max_size`. Computations,
    and the threads that wait for those of others, take a `slot`. An error is not cached.
    """

    def __init__(
        self,
        ttl_seconds: float,
        *,
        max_size: float = math.inf,
        size_of: Callable[[Value], int] = lambda value: 1,
        slot: Slot = lambda wait: nullcontext(),
        executor: Executor | None = None,
        serve_stale: bool = False,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.timer = timer
        self._ttl_seconds = ttl_seconds
        self._max_size = max_size
        self._size_of = size_of
        self._slot = slot
        self._executor = executor
        self._serve_stale = serve_stale
        self._lock = Lock()
        kept_seconds = math.inf if serve_stale else _KEPT_TTLS * ttl_seconds
        self._entries: TLRUCache[Hashable, Cached[Value]] = TLRUCache(
            max_size,
            lambda key, cached, now: cached.made_at + kept_seconds,
            timer,
            lambda cached: size_of(cached.value),
        )
        # The computations in progress, and when they began.
        self._running: dict[Hashable, tuple[Future[Cached[Value]], float]] = {}

    def find(self, key: Hashable) -> Value | None:
        """Return the value of a key if it is cached and has not expired."""
        cached = self._entry(key)
        return None if cached is None or self._has_expired(cached, self.timer()) else cached.value

    def find_expired(self, key: Hashable) -> Value | None:
        """Return the value of a key if it is cached, even if it has expired."""
        cached = self._entry(key)
        return None if cached is None else cached.value

    def put(self, key: Hashable, value: Value, made_at: float) -> None:
        """Store a value that was computed elsewhere, from `made_at` on."""
        self._store(key, Cached(value, made_at))

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Cached[Value]:
        """Return the cached value, or what another thread is computing, or else what `compute` returns.

        Raise what `compute` or the slot raises, unless there is a value to return.
        """
        now = self.timer()
        if self._ttl_seconds == 0:
            with self._slot(wait=True):
                return Cached(compute(), now, hit=False)
        cached = self._entry(key)
        has_expired = cached is None or self._has_expired(cached, now)
        if cached is not None and not has_expired and now < self._due_at(cached):
            return cached
        usable = cached if self._serve_stale or not has_expired else None
        if usable is not None and (
            self._is_running(key, now) or self._refreshes_in_background(key, compute, now)
        ):
            return usable
        try:
            # Join inside the slot, so that no thread waits for a computation that was refused one.
            with self._slot(wait=usable is None):
                return self._made_since(key, cached) or self._join(key, compute, now)
        except Exception:
            if usable is None:
                raise
            return usable

    def _entry(self, key: Hashable) -> Cached[Value] | None:
        with self._lock:
            try:
                return self._entries[key]
            except KeyError:
                return None

    def _made_since(self, key: Hashable, before: Cached[Value] | None) -> Cached[Value] | None:
        """Return what another thread computed while this one waited for its slot."""
        cached = self._entry(key)
        if cached is None or cached is before or self._has_expired(cached, self.timer()):
            return None
        return cached

    def _has_expired(self, cached: Cached[Value], now: float) -> bool:
        return now >= cached.made_at + self._ttl_seconds

    def _due_at(self, cached: Cached[Value]) -> float:
        # Refresh early by twice the duration, so that the new value is ready when the old one expires.
        early = min(2 * cached.took_seconds, self._ttl_seconds / 2)
        return cached.made_at + self._ttl_seconds - early

    def _is_running(self, key: Hashable, now: float) -> bool:
        running = self._running.get(key)
        # The result of an older one may lack recent imports.
        return running is not None and running[1] >= now - self._ttl_seconds

    def _refreshes_in_background(self, key: Hashable, compute: Callable[[], Value], now: float) -> bool:
        if self._executor is None:
            return False
        future, is_new = self._begin(key, now)
        if is_new:
            try:
                begun = self._executor.submit(self._run, key, compute, future, now)
            except RuntimeError as error:
                # It is closed, or the system has no more threads.
                self._fail(key, future, error)
            else:
                begun.add_done_callback(
                    lambda done: self._fail(key, future, CancelledError()) if done.cancelled() else None
                )
        return True

    def _join(self, key: Hashable, compute: Callable[[], Value], now: float) -> Cached[Value]:
        future, is_new = self._begin(key, now)
        if not is_new:
            return future.result()
        self._run(key, compute, future, now)
        made = future.result()
        return Cached(made.value, made.made_at, made.took_seconds, hit=False)

    def _begin(self, key: Hashable, now: float) -> tuple[Future[Cached[Value]], bool]:
        with self._lock:
            if self._is_running(key, now):
                return self._running[key][0], False
            future: Future[Cached[Value]] = Future()
            self._running[key] = future, now
            return future, True

    def _run(
        self, key: Hashable, compute: Callable[[], Value], future: Future[Cached[Value]], now: float
    ) -> None:
        try:
            value = compute()
            made = Cached(value, now, self.timer() - now)
            self._store(key, made)
        except BaseException as error:  # noqa: BLE001 - raised in the threads that wait
            self._fail(key, future, error)
        else:
            self._end(key, future)
            future.set_result(made)

    def _fail(self, key: Hashable, future: Future[Cached[Value]], error: BaseException) -> None:
        self._end(key, future)
        future.set_exception(error)

    def _store(self, key: Hashable, made: Cached[Value]) -> None:
        if self._size_of(made.value) <= self._max_size:
            with self._lock:
                self._entries[key] = made

    def _end(self, key: Hashable, future: Future[Cached[Value]]) -> None:
        with self._lock:
            # A newer computation may have replaced this one.
            if self._running.get(key, (None,))[0] is future:
                del self._running[key]
