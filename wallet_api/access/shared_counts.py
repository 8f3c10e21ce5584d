"""The shared counts of requests: one number per window in Valkey, changed by a script."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import valkey
from valkey.exceptions import ValkeyError

CONNECT_TIMEOUT_SECONDS = 0.25
REPLY_TIMEOUT_SECONDS = 0.5
# A window stays in the store so long after its end, for workers whose clock is behind.
KEPT_SECONDS = 60

# A store that came back empty continues from the worker's count. The requests of `pending` were let through
# already; those of `calls` are counted if they fit.
_SCRIPT = """
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])) + tonumber(ARGV[2])
local calls, granted = tonumber(ARGV[3]), 0
if used + calls <= tonumber(ARGV[4]) then
    used = used + calls
    granted = 1
end
redis.call('SET', KEYS[1], string.format('%.0f', used), 'EX', ARGV[5])
local clock = redis.call('TIME')
return {used, granted, clock[1], clock[2]}
"""


class StoreError(Exception):
    """The store of counts is away or returned an error."""


class Count(NamedTuple):
    """What a worker adds to a window: `pending` in any case, `calls` if they fit. It had read `known`."""

    name: str
    known: int
    pending: int
    calls: int
    limit: int
    left_seconds: float


# What is used of a window after that, and whether `calls` are part of it.
Counted = tuple[int, bool]


class SharedCounts:
    """The store at a valkey://, redis:// or unix-socket URL, and its clock."""

    def __init__(self, url: str) -> None:
        # No command is sent twice, since the first may have been counted.
        self._store = valkey.from_url(  # type: ignore[no-untyped-call]
            url.replace("valkey+unix:", "unix:", 1).replace("redis+unix:", "unix:", 1),
            socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
            socket_timeout=REPLY_TIMEOUT_SECONDS,
        )
        self._sha = self._store.register_script(_SCRIPT).sha
        self._offset: float | None = None  # of the store's clock to the monotonic clock

    def now(self) -> float:
        """Return the store's time in Unix seconds; the local time before its first reply."""
        return time.time() if self._offset is None else time.monotonic() + self._offset

    def probe(self) -> None:
        """Raise StoreError unless the store works."""
        self.add([Count("wallet-api/probe", 0, 0, 0, 1, 0.0)])

    def add(self, counts: Sequence[Count]) -> list[Counted | None]:
        """Add to several windows in one round trip; None where the store refused to.

        Raises StoreError when it refused all, or when there was no reply: then all may have been counted.
        """
        began = time.monotonic()
        try:
            with self._store.pipeline(transaction=False) as pipeline:
                for name, *arguments, left_seconds in counts:
                    expiry = int(left_seconds) + KEPT_SECONDS
                    # The first loads the script for the others.
                    run, script = (pipeline.evalsha, self._sha) if len(pipeline) else (pipeline.eval, _SCRIPT)
                    run(script, 1, name, *arguments, expiry)
                replies: list[Any] = pipeline.execute(raise_on_error=False)
        except (ValkeyError, OSError) as error:
            raise StoreError(str(error)) from error
        good = [reply for reply in replies if not isinstance(reply, Exception)]
        if not good:
            raise StoreError(str(replies[0]))
        self._offset = int(good[-1][2]) + int(good[-1][3]) / 1e6 - (began + time.monotonic()) / 2
        return [None if isinstance(reply, Exception) else (reply[0], reply[1] == 1) for reply in replies]
