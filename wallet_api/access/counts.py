"""The counts of calls that all workers share, in Valkey: one hash per limit, changed by one atomic script."""

from typing import NamedTuple

import valkey
from valkey.backoff import NoBackoff
from valkey.exceptions import ConnectionError as ConnectionLost
from valkey.exceptions import ValkeyError
from valkey.retry import Retry

_PROBE = "LIMITER/probe"
CONNECT_TIMEOUT_SECONDS = 0.25
ANSWER_TIMEOUT_SECONDS = 0.5

# born names the window, used counts calls and leases, back is when all leases are returned or renewed.
# No clock but the store's own decides.
_COUNT = """
local calls, limit, length = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local born, adjust = ARGV[4], tonumber(ARGV[5])
local lease, free_after, away = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local window = redis.call('HMGET', KEYS[1], 'born', 'used', 'back')
local used, back = 0, 0
if window[1] then
    used, back = tonumber(window[2]), tonumber(window[3])
    if window[1] == born then used = math.max(0, used + adjust) end
    born = window[1]
else
    born = clock[1] .. '.' .. clock[2]
end
local granted = 0
if limit - used >= calls then granted = calls end
if away > 0 then
    granted = granted + math.max(0, math.min(lease, math.floor((limit - used - calls - free_after) / 20)))
    back = math.max(back, now + away)
end
used = used + granted
redis.call('HSET', KEYS[1], 'born', born, 'used', string.format('%.0f', used),
           'back', string.format('%.0f', back))
if not window[1] then redis.call('PEXPIRE', KEYS[1], length) end
return {born, used, granted, redis.call('PTTL', KEYS[1]), math.max(0, back - now)}
"""


class StoreError(Exception):
    """The store of counts does not answer as it should."""


class Counted(NamedTuple):
    """A window after it was counted in: `used` includes `granted`, and what is leased."""

    born: str
    used: int
    granted: int
    left_seconds: float
    away_seconds: float


class SharedCounts:
    """The store at a valkey://, redis:// or unix-socket URL."""

    def __init__(self, url: str) -> None:
        self._store = valkey.from_url(  # type: ignore[no-untyped-call]
            url.replace("valkey+unix:", "unix:", 1).replace("redis+unix:", "unix:", 1),
            decode_responses=True,
            socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
            socket_timeout=ANSWER_TIMEOUT_SECONDS,
            # A connection that went stale, since the store was restarted, is made anew.
            retry=Retry(NoBackoff(), 1, supported_errors=(ConnectionLost,)),
        )
        self._count = self._store.register_script(_COUNT)

    def count(
        self,
        key: str,
        calls: int,
        limit: int,
        expiry_seconds: int,
        *,
        born: str = "",
        adjust: int = 0,
        lease: int = 0,
        free_after: int = 0,
        away_seconds: float = 0.0,
    ) -> Counted:
        """Count all of `calls` or none, and lease up to `lease` more as long as `free_after` stay free.

        What is leased, and what was before, will be returned or renewed within `away_seconds`. `adjust` is
        first added to the count of the window `born`, if that is still the current one. Raises StoreError.
        """
        arguments = [calls, limit, expiry_seconds * 1000, born, adjust]
        arguments += [lease, free_after, int(away_seconds * 1000)]
        try:
            born, used, granted, left, away = self._count(keys=[key], args=arguments)
        except (ValkeyError, OSError) as error:
            raise StoreError(str(error)) from error
        return Counted(born, used, granted, max(0, left) / 1000, away / 1000)

    def forget(self, key: str) -> None:
        """Start the window of `key` anew. Raises StoreError."""
        try:
            self._store.delete(key)
        except (ValkeyError, OSError) as error:
            raise StoreError(str(error)) from error

    def answers(self) -> bool:
        """Whether the store is there, and counts."""
        try:
            self.count(_PROBE, 0, 1, 1)
        except StoreError:
            return False
        return True
