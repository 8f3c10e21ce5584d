"""The counts of requests: of one worker, and in Valkey, where a script adds them (docs/credits.md)."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

import valkey
from valkey.exceptions import ValkeyError

from wallet_api.api.access.settling import Account

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 0.25
REPLY_TIMEOUT_SECONDS = 0.5
# How long a window stays in the store after its end, for workers whose clock is behind.
EXPIRY_SECONDS = 60

# The requests of ARGV[1] are counted in a window if they fit into the limit of ARGV[2]. Three more arguments
# are of each window: the worker's count, from which a store that came back empty continues; the requests that
# have passed already; and its seconds. A window whose name something else has in the store gets no count.
_SCRIPT = """
local clock = redis.call('TIME')
local reply = {tonumber(clock[1]), tonumber(clock[2]), 1}
for place, name in ipairs(KEYS) do
  local stored = redis.pcall('GET', name)
  local used = false
  if type(stored) ~= 'table' then
    used = math.max(tonumber(stored or '0'), tonumber(ARGV[3 * place])) + tonumber(ARGV[3 * place + 1])
    if used + ARGV[1] <= tonumber(ARGV[2]) then used = used + ARGV[1] else reply[3] = 0 end
    redis.call('SET', name, string.format('%.0f', used), 'EX', ARGV[3 * place + 2])
  end
  reply[place + 3] = used
end
return reply
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

    def receive(self, amount: int, requests: int, limit: int, used: int | None, fits: bool) -> bool:
        """Apply the store's count with what was sent, and return whether `requests` may pass.

        Without one, what was sent is treated as known, and not sent again.
        """
        with self.lock:
            self.sent -= amount
            if used is not None:
                self.known = max(self.known, used)
                return fits
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
        self._add = self._store.register_script(_SCRIPT)
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
        began, now = time.monotonic(), self.now()
        arguments = [requests, limit]
        for window, amount in amounts.items():
            arguments += window.known, amount, max(0, int(window.ends - now)) + EXPIRY_SECONDS
        try:
            seconds, micros, fits, *used = self._add([window.name for window in amounts], arguments)
        except (ValkeyError, OSError) as error:
            if not self.away:
                log.warning("The store of rate limits is away; each worker counts by itself: %s", error)
            self.away = True
            fits, used = 0, [None] * len(amounts)
        else:
            self._offset = seconds + micros / 1e6 - (began + time.monotonic()) / 2
            if self.away:
                log.warning("The store of rate limits is back.")
            self.away = False
        counts = zip(amounts.items(), used, strict=True)
        may_pass = [
            window.receive(amount, requests, limit, count, bool(fits)) for (window, amount), count in counts
        ]
        return all(may_pass)
