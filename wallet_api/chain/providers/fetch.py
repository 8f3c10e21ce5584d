"""The HTTP client that all providers share: deadlines, a size limit, retries, the breaker and a log line."""

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
import requests
from urllib3 import Timeout
from urllib3.exceptions import HTTPError, ReadTimeoutError

from wallet_api.base.http import USER_AGENT, DeadlineAdapter
from wallet_api.chain.providers.faults import (
    BreakerOpen,
    Crowded,
    Overloaded,
    Oversized,
    ProviderFault,
    TimedOut,
    Unreachable,
)
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.providers.replies import Reply, refuse
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

Parsed = TypeVar("Parsed")

# The part of the time for a whole fetch that may pass without a byte.
SILENCE = 1 / 3

# Decoded, JSON takes about ten times its size.
LARGE_BYTES = 1024 * 1024
_CHUNK_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts and other limits.

    `total_seconds` includes all requests, retries and pauses of a fetch; `silence_seconds` is the longest
    wait for the next byte.
    """

    silence_seconds: float
    total_seconds: float
    backoff_seconds: float
    breaker_failures: int
    breaker_seconds: float
    connect_seconds: float = 3.0
    max_bytes: int = 32 * 1024 * 1024
    tries: int = 3
    connections: int = 16

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the limits from the settings."""
        return cls(
            silence_seconds=settings.holdings_fetch_seconds * SILENCE,
            total_seconds=settings.holdings_fetch_seconds,
            backoff_seconds=settings.holdings_backoff_seconds,
            breaker_failures=settings.holdings_breaker_failures,
            breaker_seconds=settings.holdings_breaker_seconds,
        )


class Breaker:
    """A circuit breaker: it stops requests to a provider that fails, then admits a single fetch.

    It opens for `cooldown_seconds` after `failures` consecutive failures of a provider.
    """

    def __init__(self, failures: int, cooldown_seconds: float) -> None:
        self._limit = failures
        self._cooldown = cooldown_seconds
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()
        self._open_until = 0.0

    def remaining_seconds(self) -> float:
        """Return for how long the breaker stays open; 0 if it is closed."""
        with self._lock:
            return max(0.0, self._open_until - time.monotonic())

    def admit(self) -> None:
        """Admit a fetch, or raise BreakerOpen. After the pause one fetch is admitted before all others."""
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                raise BreakerOpen(retry_after_seconds=self._open_until - now)
            if self._open_until:
                self._open_until = now + self._cooldown

    def succeeded(self) -> None:
        """Close the breaker."""
        with self._lock:
            self._failures.clear()
            self._open_until = 0.0

    def failed(self, fault: ProviderFault) -> None:
        """Count a failure. The pause is the one that the provider requested, if any."""
        with self._lock:
            self._failures[fault.outcome] += 1
            has_struck_out = fault.strikes is not None and self._failures[fault.outcome] >= fault.strikes
            if has_struck_out or self._failures.total() >= self._limit or self._open_until:
                pause = self._cooldown if fault.retry_after_seconds is None else fault.retry_after_seconds
                self._open_until = time.monotonic() + pause


class Fetcher:
    """The HTTP client for one base URL of a provider: a session, and a breaker.

    Thread-safe; to be created in the worker, after the fork. A key is a header of the `session`. `refuse`
    returns the fault for a reply with another status than 200. Without `metrics` nothing is counted. With a
    `pace`, each request waits for its turn, retries included.
    """

    def __init__(
        self,
        provider: str,
        limits: Limits,
        metrics: FetchMetrics | None = None,
        refuse: Callable[[Reply], ProviderFault] = refuse,
        pace: Pace | None = None,
    ) -> None:
        self.provider = provider
        self.limits = limits
        self.metrics = metrics
        self.refuse = refuse
        self.pace = pace
        self.breaker = Breaker(limits.breaker_failures, limits.breaker_seconds)
        self.session = requests.Session()
        self.session.headers.update({"Accept": "application/json", "User-Agent": USER_AGENT})
        adapter = DeadlineAdapter(limits.silence_seconds, limits.connections)
        self.session.mount("https://", adapter)
        self.session.mount("http://", adapter)
        # At DEBUG urllib3 logs every path, and some paths contain a key.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

    def begin(self, chain: str, await_turn: Callable[[float], bool] | None = None) -> "Fetch":
        """Return a fetch for one wallet of `chain`, to be used as a context manager. Raise BreakerOpen.

        Before it reads more than LARGE_BYTES it calls `await_turn` with the seconds left, and fails unless
        that returns true.
        """
        self.breaker.admit()
        return Fetch(self, chain, await_turn)

    def close(self) -> None:
        """Close the connections."""
        self.session.close()


class Fetch:
    """The requests for one wallet under one deadline. At its end it is counted and logged once.

    `left_out` counts the rows that could not be read; `remark` is for the log.
    """

    def __init__(self, fetcher: Fetcher, chain: str, await_turn: Callable[[float], bool] | None) -> None:
        self._fetcher = fetcher
        self._await_turn = await_turn
        self._limits = fetcher.limits
        self._chain = chain
        self._began = time.monotonic()
        self._sent = 0
        self._bytes = 0
        # Whether any request succeeded, which proves that the provider works.
        self._succeeded = False
        self.left_out = 0
        self.remark = ""

    def get(self, url: str, parameters: Mapping[str, str], read: Callable[[Reply], Parsed]) -> Parsed:
        """Return the result of `read` for the reply. Raise ProviderFault; those of `read` are retried too."""
        return self._retry(lambda: read(self._request("GET", url, params=parameters)))

    def post(self, url: str, document: Any, read: Callable[[Reply], Parsed]) -> Parsed:
        """Send a JSON document to `url`, else as get(). Only for requests that are safe to repeat."""
        data = orjson.dumps(document)
        headers = {"Content-Type": "application/json"}
        calls = len(document) if isinstance(document, list) else 1
        return self._retry(lambda: read(self._request("POST", url, calls, data=data, headers=headers)))

    def remaining_seconds(self) -> float:
        """Return the time left for the whole fetch."""
        return self._began + self._limits.total_seconds - time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fetcher, seconds = self._fetcher, time.monotonic() - self._began
        fault = error if isinstance(error, ProviderFault) else None
        if self._succeeded or (fault is not None and fault.provider_works):
            fetcher.breaker.succeeded()
        elif fault is not None and fault.provider_works is False:
            fetcher.breaker.failed(fault)
        outcome = fault.outcome if fault else "crashed" if error else "ok"
        size, left_out = self._bytes, self.left_out
        if fetcher.metrics is not None:
            place = fetcher.provider, self._chain
            fetcher.metrics.ended(place, outcome, seconds, size=size, left_out=left_out)
        log.log(
            logging.WARNING if error or left_out else logging.INFO,
            "fetch provider=%s chain=%s outcome=%s ms=%d bytes=%d calls=%d left_out=%d detail=%r",
            *(fetcher.provider, self._chain, outcome, seconds * 1000, size, self._sent, left_out),
            fault.detail if fault else self.remark,
        )

    def _retry(self, request: Callable[[], Parsed]) -> Parsed:
        attempt = 1
        pace = self._fetcher.pace
        while True:
            try:
                parsed = request()
            except ProviderFault as fault:
                # Some providers report their rate limit in the body of a success.
                if pace is not None and isinstance(fault, Overloaded):
                    pace.refused(fault.retry_after_seconds)
                pause = fault.retry_after_seconds
                if pause is None:
                    # Jitter, so that the workers do not retry at the same time.
                    jitter = random.uniform(0.75, 1.25)  # noqa: S311
                    pause = self._limits.backoff_seconds * 2 ** (attempt - 1) * jitter
                is_last = attempt >= self._limits.tries or pause >= self.remaining_seconds()
                if is_last or not fault.worth_retrying:
                    raise
            else:
                self._succeeded = True
                if pace is not None:
                    pace.accepted()
                return parsed
            time.sleep(pause)
            attempt += 1

    def _request(self, method: str, url: str, calls: int = 1, **options: Any) -> Reply:
        remaining = self.remaining_seconds()
        if remaining <= 0:
            raise TimedOut("no time left")
        self._sent += 1
        connect = min(self._limits.connect_seconds, remaining)
        timeout: Any = Timeout(connect=connect, total=remaining)
        pace = self._fetcher.pace
        if pace is not None:
            pace.wait(calls)
        try:
            # A redirect could send the key to another host, so none is followed.
            with self._fetcher.session.request(
                method, url, timeout=timeout, stream=True, allow_redirects=False, **options
            ) as response:
                reply = Reply(response.status_code, response.headers, self._body(response))
        except (requests.RequestException, HTTPError, OSError) as error:
            # The messages of these errors contain the URL, which may contain a key, so they are dropped.
            raise _fault(error) from None
        if reply.status != 200:
            raise self._fetcher.refuse(reply)
        return reply

    def _body(self, response: requests.Response) -> bytes:
        chunks = []
        size = 0
        for chunk in response.iter_content(_CHUNK_BYTES):
            size += len(chunk)
            self._bytes += len(chunk)
            if size > self._limits.max_bytes:
                raise Oversized(f"over {self._limits.max_bytes} bytes")
            if self._await_turn is not None and self._bytes > LARGE_BYTES:
                if not self._await_turn(max(0.0, self.remaining_seconds())):
                    raise Crowded
                self._await_turn = None
            chunks.append(chunk)
        return b"".join(chunks)


def _fault(error: Exception) -> ProviderFault:
    reasons = (error, *error.args)
    if any(isinstance(reason, requests.Timeout | ReadTimeoutError | TimeoutError) for reason in reasons):
        return TimedOut(type(error).__name__)
    return Unreachable(type(error).__name__)
