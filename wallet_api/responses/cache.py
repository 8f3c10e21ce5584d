"""A short-lived cache of the data of responses, shared by all requests with the same arguments."""

import time
import zlib
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from cachetools import TLRUCache
from xxhash import xxh3_128_hexdigest

from wallet_api.blocking import about_to_block
from wallet_api.responses.envelope import to_json
from wallet_api.single_flight import SingleFlight

# The fastest: the bytes that higher levels save take longer to find than to send.
_LEVEL = 1
# A window of 8 kB and little memory, since the state is copied for each response.
_GZIP_FORMAT = 13 | 16
_MEMORY_LEVEL = 6


class Prefix:
    """What several bodies have in common, compressed once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._compressed: bytes | None = None

    def gzip(self, body: bytes, size: int) -> bytes:
        """Compress `body`, whose first `size` bytes are the same each time."""
        with self._lock:
            if self._compressed is None:
                self._state = zlib.compressobj(_LEVEL, wbits=_GZIP_FORMAT, memLevel=_MEMORY_LEVEL)
                self._compressed = self._state.compress(body[:size])
        rest = self._state.copy()
        return b"".join((self._compressed, rest.compress(body[size:]), rest.flush()))


class CachedData:
    """The data of a response as JSON: `made_at` is when work on it began, `took_seconds` how long it took.

    `beside` is the part of the data of that name once more, as a member of the envelope.
    """

    def __init__(self, data: Any, made_at: float, beside: str | None = None) -> None:
        self.made_at = made_at
        self.took_seconds = 0.0
        self.json = to_json(data)
        self.beside = b"" if beside is None else b',"%b":%b' % (beside.encode(), to_json(data[beside]))
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{xxh3_128_hexdigest(self.json)}"'
        self.prefix = Prefix()


Room = Callable[[bool], AbstractContextManager[None]]


def _no_room(wait: bool) -> AbstractContextManager[None]:
    return nullcontext()


class Found(NamedTuple):
    """Cached data; `cached` if it was made for another request, `cache_age_seconds` ago."""

    data: CachedData
    cached: bool
    cache_age_seconds: int


class ResponseCache:
    """The cached data of one process, together at most `max_bytes` of JSON.

    Nothing is older than `ttl_seconds` when a request arrives; with 0 nothing is cached. Shortly before an
    entry expires, the first request for it refreshes it, while others still get the old one.
    """

    def __init__(
        self, ttl_seconds: float, max_bytes: int, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._max_bytes = max_bytes
        self._timer = timer
        self._flights: SingleFlight[CachedData] = SingleFlight()
        self._lock = Lock()
        self._entries: TLRUCache[Hashable, CachedData] = TLRUCache(
            max_bytes,
            ttu=lambda key, data, now: data.made_at + ttl_seconds,
            timer=timer,
            getsizeof=lambda data: len(data.json),
        )

    def get(
        self, key: Hashable, make: Callable[[], Any], beside: str | None = None, room: Room = _no_room
    ) -> Found:
        """Return the cached data, or what another request is making, or else what `make` returns.

        `beside` is the name of a part of the data, for CachedData; `room` is that of a Bulkhead, for a `make`
        that may take long. Raise what they raise, unless data is cached. An error is not cached.
        """
        now = self._timer()
        if self._ttl_seconds == 0:
            with room(True):
                return Found(CachedData(make(), now, beside), False, 0)
        with self._lock:
            cached = self._entries.get(key)
        if cached is not None and now < self._due(cached):
            return Found(cached, True, int(now - cached.made_at))
        try:
            # First in, whether it makes the data or waits for it: so nobody waits for one who cannot enter.
            with room(cached is None):
                # What began longer ago may not know of what has landed since.
                flight, is_new = self._flights.join(key, now, oldest=now - self._ttl_seconds)
                if is_new:
                    made = self._flights.run(key, flight, partial(self._make, key, make, now, cached, beside))
                    return Found(made, False, 0)
                if cached is None:
                    about_to_block()
                    made = flight.result()
                    return Found(made, True, int(self._timer() - made.made_at))
        except Exception:
            if cached is None:
                raise
        return Found(cached, True, int(now - cached.made_at))

    def _due(self, data: CachedData) -> float:
        # As early as it took, so that the next one is there when this one expires.
        early = min(data.took_seconds, self._ttl_seconds / 2)
        return data.made_at + self._ttl_seconds - early

    def _make(
        self,
        key: Hashable,
        make: Callable[[], Any],
        now: float,
        before: CachedData | None,
        beside: str | None,
    ) -> CachedData:
        data = CachedData(make(), now, beside)
        if before is not None and before.etag == data.etag:
            data.prefix = before.prefix
        data.took_seconds = self._timer() - now
        if len(data.json) <= self._max_bytes:
            with self._lock:
                self._entries[key] = data
        return data
