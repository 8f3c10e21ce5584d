"""A short-lived cache of the data of responses, shared by all requests with the same arguments."""

import struct
import sys
import time
import zlib
from collections.abc import Callable, Hashable
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache
from xxhash import xxh3_128_hexdigest

from wallet_api.bulkhead import Bulkhead
from wallet_api.responses.envelope import to_json
from wallet_api.single_flight import SingleFlight

# The fastest level: higher ones take longer to save bytes than the network to send them.
_LEVEL = 1
# Of no file and no time: https://www.rfc-editor.org/rfc/rfc1952#section-2.3
_GZIP_HEADER = bytes.fromhex("1f8b 08 00 00000000 04 ff")


class Prefix:
    """The common beginning of several bodies, compressed once."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._lock = Lock()
        self._compressed: bytes | None = None

    def gzip(self, end: bytes) -> bytes:
        """Return the compressed body that ends with `end`."""
        with self._lock:
            if self._compressed is None:
                # Nothing after a full flush refers to what is before it, so that no state is kept.
                deflate = zlib.compressobj(_LEVEL, wbits=-13)
                compressed = deflate.compress(self.text) + deflate.flush(zlib.Z_FULL_FLUSH)
                self._compressed, self._crc = _GZIP_HEADER + compressed, zlib.crc32(self.text)
        deflate = zlib.compressobj(_LEVEL, wbits=-9, memLevel=1)
        checks = zlib.crc32(end, self._crc), (len(self.text) + len(end)) & 0xFFFFFFFF
        return b"".join(
            (self._compressed, deflate.compress(end), deflate.flush(), struct.pack("<LL", *checks))
        )


class CachedData:
    """The data of a response as JSON. Its computation began at `made_at` and took `took_seconds`.

    `prefix` is the envelope up to `meta`, with the part of the data named `beside` once more beside it.
    """

    def __init__(self, data: Any, made_at: float, beside: str | None = None) -> None:
        self.made_at = made_at
        self.took_seconds = 0.0
        own = to_json(data)
        self.size = len(own)
        more = b"" if beside is None else b',"%b":%b' % (beside.encode(), to_json(data[beside]))
        self.prefix = Prefix(b'{"success":true,"data":%b%b,"meta":' % (own, more))
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{xxh3_128_hexdigest(own)}"'


class Found(NamedTuple):
    """Cached data; `cached` if it was made for another request, `cache_age_seconds` ago."""

    data: CachedData
    cached: bool
    cache_age_seconds: int


class ResponseCache:
    """The cached data of one process, at most `max_bytes` of JSON in all.

    No data is older than `ttl_seconds` when a request arrives; with 0, nothing is cached. Shortly before data
    expires, the first request for it refreshes it, while others still get the old data.
    """

    def __init__(
        self, ttl_seconds: float, max_bytes: int, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._max_bytes = max_bytes
        self._timer = timer
        self._unlimited = Bulkhead(sys.maxsize)
        self._flights: SingleFlight[CachedData] = SingleFlight()
        self._lock = Lock()
        self._entries: LRUCache[Hashable, CachedData] = LRUCache(max_bytes, lambda data: data.size)

    def get(
        self,
        key: Hashable,
        make: Callable[[], Any],
        beside: str | None = None,
        bulkhead: Bulkhead | None = None,
    ) -> Found:
        """Return the cached data, or what another request is making, or else what `make` returns.

        `beside` is the name of a part of the data, for CachedData; the `bulkhead` is for a `make` that may
        take long. Raise what they raise, unless data is cached. An error is not cached.
        """
        bulkhead = bulkhead or self._unlimited
        now = self._timer()
        if self._ttl_seconds == 0:
            with bulkhead.room():
                return Found(CachedData(make(), now, beside), False, 0)
        with self._lock:
            before = self._entries.get(key)
        cached = None if before is None or now >= before.made_at + self._ttl_seconds else before
        if cached is not None and now < self._due(cached):
            return Found(cached, True, int(now - cached.made_at))
        try:
            # An older flight may lack what was imported since.
            oldest = now - self._ttl_seconds
            flight = self._flights.find(key, oldest)
            if flight is None:
                # A flight begins inside the bulkhead: nobody waits for one who cannot enter.
                with bulkhead.room(wait=cached is None):
                    flight, is_new = self._flights.join(key, now, oldest)
                    if is_new:
                        made = self._flights.run(
                            key, flight, partial(self._make, key, make, now, before, beside)
                        )
                        return Found(made, False, 0)
            if cached is None:
                made = bulkhead.result(flight)
                return Found(made, True, int(self._timer() - made.made_at))
        except Exception:
            if cached is None:
                raise
        return Found(cached, True, int(now - cached.made_at))

    def _due(self, data: CachedData) -> float:
        # Early by the time it took, so that the new data is ready when the old expires.
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
        # What is old is kept for what is the same and compressed already.
        if before is not None and before.etag == data.etag:
            data.prefix = before.prefix
        data.took_seconds = self._timer() - now
        if data.size <= self._max_bytes:
            with self._lock:
                self._entries[key] = data
        return data
