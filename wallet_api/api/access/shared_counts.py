"""The counts of requests: of one worker, and in Valkey, where a script adds them (docs/credits.md)."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import valkey
from valkey.exceptions import ValkeyError

from wallet_api.api.access.settling import Account

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 0.25
REPLY_TIMEOUT_SECONDS = 0.5
# How long a window stays in the store after its end, for workers whose clock is behind.
EXPIRY_SECONDS = 60

# A store that came back empty continues from the worker's count, ARGV[1]. The requests of ARGV[2] have passed
# already; those of ARGV[3] are counted if they fit.
_SCRIPT = """
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])) + tonumber(ARGV[2])
local granted = used + ARGV[3] <= tonumber(ARGV[4]) and 1 or 0
used = used + granted * ARGV[3]
redis.call('SET', KEYS[1], string.format('%.0f', used), 'EX', ARGV[5])
local clock = redis.call('TIME')
return {used, granted, clock[1], clock[2]}
"""


@dataclass(slots=True, eq=False)
class LimitWindow(Account):
    """One key's requests between two resets; `ends` in Unix seconds.

    `known` is the store's count when it last replied.
    """

    name: str
    ends: int
    known: int = 0

    @property
    def used(self) -> int:
        """All requests that this worker has a count of."""
        return self.known + self.unsettled

    def receive(self, amount: int, requests: int, limit: int, reply: Any) -> bool:
        """Apply the reply of the script to what was sent, and return whether `requests` may pass.

        What an error leaves unknown is treated as known, and not sent again.
        """
        with self.lock:
            self.sent -= amount
            if not isinstance(reply, Exception):
                self.known = max(self.known, reply[0])
                return bool(reply[1])
            self.known += amount
            may_pass = self.used + requests <= limit
            self.known += requests if may_pass else 0
            return may_pass


class SharedCounts:
    """The store at a valkey://, redis:// or unix-socket URL, and its clock. `away` while it does not work."""

    def __init__(self, url: str) -> None:
        # No command is sent twice, since the first may have been counted.
        self._store = valkey.from_url(  # type: ignore[no-untyped-call]
            url.replace("valkey+unix:", "unix:", 1).replace("redis+unix:", "unix:", 1),
            socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
            socket_timeout=REPLY_TIMEOUT_SECONDS,
        )
        self._sha = self._store.register_script(_SCRIPT).sha
        self._offset: float | None = None  # of the store's clock to the monotonic clock
        self.away = False

    def now(self) -> float:
        """Return the store's time in Unix seconds; the local time before its first reply."""
        return time.time() if self._offset is None else time.monotonic() + self._offset

    def probe(self) -> bool:
        """Return whether the store works."""
        self.add({LimitWindow("wallet-api/probe", 0): 0})
        return not self.away

    def add(self, amounts: Mapping[LimitWindow, int], requests: int = 0, limit: int = 0) -> bool:
        """Add to each window what was sent, and `requests` if they fit into the limit, in one round trip.

        Return whether `requests` may pass, by the store's count or else this worker's.
        """
        began = time.monotonic()
        replies: list[Any]
        try:
            with self._store.pipeline(transaction=False) as pipeline:
                for window, amount in amounts.items():
                    expiry = max(0, int(window.ends - self.now())) + EXPIRY_SECONDS
                    # The first loads the script for the others.
                    run, script = (pipeline.evalsha, self._sha) if len(pipeline) else (pipeline.eval, _SCRIPT)
                    run(script, 1, window.name, window.known, amount, requests, limit, expiry)
                replies = pipeline.execute(raise_on_error=False)
        except (ValkeyError, OSError) as error:
            replies = [error] * len(amounts)
        # The store refuses a single command, such as one of a window that has another type.
        good = [reply for reply in replies if not isinstance(reply, Exception)]
        if good:
            self._offset = int(good[-1][2]) + int(good[-1][3]) / 1e6 - (began + time.monotonic()) / 2
        if self.away and good:
            log.warning("The store of rate limits is back.")
        elif not self.away and not good:
            log.warning("The store of rate limits is away; each worker counts by itself: %s", replies[0])
        self.away = not good
        outcomes = zip(amounts.items(), replies, strict=True)
        may_pass = [window.receive(amount, requests, limit, reply) for (window, amount), reply in outcomes]
        return all(may_pass)
