"""A bulkhead: requests that wait take a part of a worker's threads, never all of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Condition, local

from wallet_api.base.errors import Busy

# Longest wait for a slot while none of its kind is taken or released: longer than it takes to connect.
_WAIT_SECONDS = 0.5
# The same for a worker that has just started, whose first connections take longer.
_FIRST_WAIT_SECONDS = 1.5


class Wait(Enum):
    """What a request waits for."""

    DATA = "data"
    KEY = "key"
    # To charge a key, or to read balances.
    PRIMARY = "primary"
    PROVIDER = "provider"
    # For the board of a window, or the copies of a board, beside DATA: a quarter of the slots, so that those
    # that are kept go on.
    WINDOW = "window"


@dataclass
class _Taken:
    """The slots that are taken for one kind of wait; with `within`, by those that hold another slot too."""

    limit: int
    within: bool = False
    count: int = 0
    changed_at: float = 0.0
    # A request has waited in vain, and none has succeeded since: others need not wait.
    is_stuck: bool = False
    wait_seconds: float = _FIRST_WAIT_SECONDS


class Bulkhead:
    """Slots for three quarters of a worker's threads, at least one; the other threads stay free.

    A request takes a slot while it may wait, and one for all that it reads within it. No kind of wait can
    take all of them, if there are several, so that an unavailable server delays only the requests that need
    it.
    """

    def __init__(self, threads: int) -> None:
        self._free = slots = max(1, threads * 3 // 4)
        self._taken = {
            Wait.DATA: _Taken(max(1, slots - 1)),
            Wait.KEY: _Taken(max(1, slots // 3)),
            Wait.PRIMARY: _Taken(max(1, slots // 2)),
            # A single thread waits for no provider.
            Wait.PROVIDER: _Taken(threads // 2),
            Wait.WINDOW: _Taken(max(1, slots // 4), within=True),
        }
        self._changed = Condition()
        self._own = local()

    @contextmanager
    def slot(self, kind: Wait = Wait.DATA, *, wait: bool = True) -> Iterator[None]:
        """Take a slot for this block, unless the thread has one of this kind.

        While others of its kind come and go, a request waits for its turn. Raise Busy if none does for a
        while, or at once without `wait`.
        """
        held: set[Wait] = self._own.__dict__.setdefault("held", set())
        if kind in held:
            yield
            return
        with self._new_slot(kind, wait=wait):
            held.add(kind)
            try:
                yield
            finally:
                held.discard(kind)

    @contextmanager
    def _new_slot(self, kind: Wait, *, wait: bool) -> Iterator[None]:
        taken = self._taken[kind]
        arrived_at = time.monotonic()
        with self._changed:
            while (not self._free and not taken.within) or taken.count >= taken.limit:
                left = max(arrived_at, taken.changed_at) + taken.wait_seconds - time.monotonic()
                if wait and left <= 0:
                    taken.is_stuck = True
                if taken.is_stuck or not wait:
                    raise Busy
                self._changed.wait(left)
            self._take(taken, 1)
        try:
            yield
            taken.is_stuck = False
            taken.wait_seconds = _WAIT_SECONDS
        finally:
            with self._changed:
                self._take(taken, -1)
                self._changed.notify_all()

    def _take(self, taken: _Taken, change: int) -> None:
        self._free -= 0 if taken.within else change
        taken.count += change
        taken.changed_at = time.monotonic()
