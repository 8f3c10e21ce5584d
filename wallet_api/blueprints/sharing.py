"""Finished answers, kept for a moment and shared: what many callers ask at once is worked out once."""

import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, NamedTuple

from cachetools import TLRUCache
from xxhash import xxh3_128_hexdigest

from wallet_api.blueprints.encodings import CODINGS, Begun
from wallet_api.blueprints.envelope import to_json
from wallet_api.leadership import give_up_lead

# What takes longer is made ahead by a thread of its own, which costs a tenth of this.
_LONG_SECONDS = 0.002
# At most so many at a time, as with leaderboards, or they would take all connections from those who wait.
_MAKERS = 2


class Answer:
    """The data of an answer, as the bytes that every response with it begins with.

    `made_at` is when its making began, `took_seconds` how long that took, `codings` are the content codings
    that it was asked for in.
    """

    def __init__(self, data: Any, made_at: float) -> None:
        self.made_at = made_at
        self.took_seconds = 0.0
        # Without the brace at its end, before which each response puts its own meta.
        self.begin = to_json({"success": True, "data": data})[:-1]
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        # It tells a change, and stops no forger: SHA-256 of a history takes a hundredth of the whole call.
        self.etag = f'W/"{xxh3_128_hexdigest(self.begin)}"'
        self.codings: set[str] = set()
        self._lock = Lock()
        self._begun: dict[str, Begun] = {}

    def follow(self, before: "Answer") -> None:
        """Have ready what `before` was asked for in; when nothing has changed, what it has compressed."""
        if self.begin == before.begin:
            self.begin, self._begun = before.begin, before._begun
        for coding in tuple(before.codings):
            self.compress(coding)

    def begun(self, coding: str) -> Begun:
        """The same in a content coding, compressed when first asked for."""
        self.codings.add(coding)
        return self._begun.get(coding) or self.compress(coding)

    def compress(self, coding: str) -> Begun:
        """See to it that it is there when it is asked for."""
        if self._lock.locked():
            give_up_lead()
        with self._lock:
            if coding not in self._begun:
                self._begun[coding] = CODINGS[coding].begin(self.begin)
        return self._begun[coding]


class Shared(NamedTuple):
    """An answer; `cached` if it was made for another call, and then how long ago."""

    answer: Answer
    cached: bool
    cache_age_seconds: int


class SharedAnswers:
    """The answers of one process, together at most `max_bytes` of data.

    What is answered to a call was worked out at most `ttl_seconds` before the call came. With 0 nothing is
    kept, and every call has its own worked out. An answer that is still asked for is worked out anew a little
    before it is too old: by one of those who ask, or, where that takes long, by another thread while few are
    at it, so that nobody else need wait. `make` may then be called outside the call.
    """

    def __init__(
        self, ttl_seconds: float, max_bytes: int, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._timer = timer
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._making: dict[Hashable, tuple[float, Future[Answer]]] = {}
        self._makers = BoundedSemaphore(_MAKERS)
        self._kept: TLRUCache[Hashable, Answer] = TLRUCache(
            max_bytes,
            ttu=lambda question, answer, now: answer.made_at + ttl_seconds,
            timer=timer,
            getsizeof=lambda answer: len(answer.begin),
        )

    def once(self, question: Hashable, make: Callable[[], Any]) -> Shared:
        """The answer that is kept, or that another call is making right now, or else of `make`'s data.

        Raises what `make` raises, unless an answer is kept that is good still. A failure is not kept.
        """
        now = self._timer()
        if self._ttl_seconds == 0:
            return Shared(Answer(make(), now), False, 0)
        with self._lock:
            kept = self._kept.get(question)
            began, making = self._making.get(question, (now, None))
            # What began too long ago may not know of what has landed since.
            if now - began > self._ttl_seconds:
                making = None
            if kept is not None and (making is not None or now < self._due(kept)):
                return Shared(kept, True, int(now - kept.made_at))
            if making is None:
                own: Future[Answer] = Future()
                self._making[question] = now, own
        if making is not None:
            give_up_lead()
            answer = making.result()
            return Shared(answer, True, int(self._timer() - answer.made_at))
        if kept is None:
            return Shared(self._make(question, make, now, own), False, 0)
        ahead = partial(self._make_ahead, question, make, now, own, kept)
        made = None if kept.took_seconds > _LONG_SECONDS and self._start(ahead) else ahead()
        return Shared(kept, True, int(now - kept.made_at)) if made is None else Shared(made, False, 0)

    def _due(self, answer: Answer) -> float:
        # As early as it took, so that the next one is there when this one ends.
        early = min(answer.took_seconds, self._ttl_seconds / 2)
        return answer.made_at + self._ttl_seconds - early

    def _start(self, work: Callable[[], object]) -> bool:
        """Whether another thread does it; not while as many as may be are at work."""
        if not self._makers.acquire(blocking=False):
            return False

        def run() -> None:
            try:
                work()
            finally:
                self._makers.release()

        try:
            Thread(target=run, name="answer made ahead", daemon=True).start()
        except RuntimeError:
            # The system has no more threads.
            self._makers.release()
            return False
        return True

    def _make_ahead(self, *arguments: Any) -> Answer | None:
        # What is kept is good still. Whoever asks when it is not is told what fails.
        with suppress(Exception):
            return self._make(*arguments)
        return None

    def _make(
        self,
        question: Hashable,
        make: Callable[[], Any],
        now: float,
        own: "Future[Answer]",
        before: Answer | None = None,
    ) -> Answer:
        answer = None
        try:
            answer = Answer(make(), now)
            if before is not None:
                answer.follow(before)
            answer.took_seconds = self._timer() - now
            own.set_result(answer)
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                # Unless a later call has begun anew, since this took so long.
                if self._making.get(question) == (now, own):
                    del self._making[question]
                    if answer is not None and len(answer.begin) <= self._max_bytes:
                        self._kept[question] = answer
        return answer
