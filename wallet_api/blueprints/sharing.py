"""The data of responses, kept for a moment and shared by all requests with the same arguments."""

import time
import zlib
from collections.abc import Callable, Hashable
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from cachetools import TLRUCache
from xxhash import xxh3_128_hexdigest

from wallet_api.blocking import about_to_block
from wallet_api.blueprints.envelope import to_json
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


class Answer:
    """The data of a response as JSON: `made_at` is when work on it began, `took_seconds` how long it took."""

    def __init__(self, data: Any, made_at: float) -> None:
        self.made_at = made_at
        self.took_seconds = 0.0
        self.json = to_json(data)
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{xxh3_128_hexdigest(self.json)}"'
        self.prefix = Prefix()


class Shared(NamedTuple):
    """An answer; `cached` if it was made for another request, `cache_age_seconds` ago."""

    answer: Answer
    cached: bool
    cache_age_seconds: int


class SharedAnswers:
    """The answers of one process, together at most `max_bytes` of JSON.

    No answer is older than `ttl_seconds` when a request comes; with 0 nothing is kept. Shortly before one
    expires, the first request for it makes the next one, while others still get the old one.
    """

    def __init__(
        self, ttl_seconds: float, max_bytes: int, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._max_bytes = max_bytes
        self._timer = timer
        self._flights: SingleFlight[Answer] = SingleFlight()
        self._lock = Lock()
        self._kept: TLRUCache[Hashable, Answer] = TLRUCache(
            max_bytes,
            ttu=lambda question, answer, now: answer.made_at + ttl_seconds,
            timer=timer,
            getsizeof=lambda answer: len(answer.json),
        )

    def once(self, question: Hashable, make: Callable[[], Any]) -> Shared:
        """Return the answer that is kept, or that another request is making, or else one of `make`'s data.

        Raises what `make` raises, unless an answer is kept. An error is not kept.
        """
        now = self._timer()
        if self._ttl_seconds == 0:
            return Shared(Answer(make(), now), False, 0)
        with self._lock:
            kept = self._kept.get(question)
        if kept is not None and now < self._due(kept):
            return Shared(kept, True, int(now - kept.made_at))
        # What began longer ago may not know of what has landed since.
        flight, is_new = self._flights.join(question, now, oldest=now - self._ttl_seconds)
        if is_new:
            try:
                made = self._flights.run(question, flight, partial(self._make, question, make, now, kept))
                return Shared(made, False, 0)
            except Exception:
                if kept is None:
                    raise
        elif kept is None:
            about_to_block()
            made = flight.result()
            return Shared(made, True, int(self._timer() - made.made_at))
        return Shared(kept, True, int(now - kept.made_at))

    def _due(self, answer: Answer) -> float:
        # As early as it took, so that the next one is there when this one expires.
        early = min(answer.took_seconds, self._ttl_seconds / 2)
        return answer.made_at + self._ttl_seconds - early

    def _make(self, question: Hashable, make: Callable[[], Any], now: float, before: Answer | None) -> Answer:
        answer = Answer(make(), now)
        if before is not None and before.etag == answer.etag:
            answer.prefix = before.prefix
        answer.took_seconds = self._timer() - now
        if len(answer.json) <= self._max_bytes:
            with self._lock:
                self._kept[question] = answer
        return answer
