"""The API keys in memory: looked up by hash at first use, and refreshed while they are used."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from cachetools import TTLCache
from limits import RateLimitItem, parse

from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import Forbidden
from wallet_api.keys import key_hash

# Longer texts are not looked up; keys have 46 characters.
MAX_KEY = 256
MAX_UNKNOWN = 10_000
UNKNOWN_SECONDS = 1.0
# A key that was not used for so long is no longer refreshed, and dropped.
IDLE_SECONDS = 60.0
KEYS_AT_ONCE = 1_000

_FIND = load_sql("wallet_api.access", "find_keys")
_NEVER = float("-inf")


@dataclass(slots=True, eq=False)
class ApiKey:
    """A key as last read, and what this process has charged to it. Times are of the monotonic clock.

    `label` may be shown, requests are counted under the name `window`. `balance` was read by a statement that
    ran from `balance_at` to `balance_until`; `owed` is charged since, `settling` is on its way there.
    """

    key_id: int
    label: str
    name: str
    limit: RateLimitItem
    window: str
    unlimited: bool = False
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    read_at: float = _NEVER
    used_at: float = _NEVER
    balance: int = 0
    balance_at: float = _NEVER
    balance_until: float = _NEVER
    owed: int = 0
    settling: int = 0
    lock: Lock = field(default_factory=Lock)

    @property
    def unsettled(self) -> int:
        """Credits charged here that the database has not confirmed."""
        return self.owed + self.settling

    def learn(self, balance: int | None, began: float) -> None:
        """Store a balance read by a statement that started at `began`; None is unlimited.

        Of two statements that ran at once, the lower balance is the later one, or it errs on the safe side.
        """
        self.unlimited = balance is None
        if balance is not None and (began >= self.balance_until or balance < self.balance):
            self.balance, self.balance_at, self.balance_until = balance, began, time.monotonic()


def bearer_key(authorization: str | None) -> str | None:
    """Return the key in an Authorization header; None if it is absent or malformed (RFC 6750, 2.1)."""
    if authorization is None:
        return None
    scheme, _, key = authorization.partition(" ")
    key = key.strip(" ")
    if scheme.lower() != "bearer" or not key or " " in key:
        return None
    return key


def may_hold_key(query: bytes) -> bool:
    """Return whether a query string may contain the parameter api_key, encoded or not, without parsing it."""
    return b"api_key" in query or b"%" in query


class KeyRing:
    """The keys that this process has looked up. Guesses are kept apart, and evict no valid key."""

    def __init__(
        self, database: Database, default_rate: str, kept_seconds: float, *, reads_primary: bool = False
    ) -> None:
        self.reads_primary = reads_primary
        self._database = database
        self._default_limit = parse(default_rate)
        self._kept_seconds = kept_seconds
        self._known: dict[bytes, ApiKey] = {}
        self._lock = Lock()
        self._unknown: TTLCache[bytes, bool] = TTLCache(MAX_UNKNOWN, ttl=min(UNKNOWN_SECONDS, kept_seconds))

    def find(self, text: str) -> ApiKey:
        """Return the key `text` if it may be used now.

        Raises Forbidden with reason invalid_api_key, revoked_api_key or expired_api_key.
        """
        hashed = key_hash(text)
        key = self._known.get(hashed)
        now = time.monotonic()
        if key is None or now - key.read_at >= self._kept_seconds:
            key = None if len(text) > MAX_KEY else self._look_up(hashed, now)
        if key is None:
            raise Forbidden("This API key is not valid.", reason="invalid_api_key")
        key.used_at = now
        if key.revoked_at is not None:
            raise Forbidden("This API key has been revoked.", reason="revoked_api_key")
        if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
            raise Forbidden("This API key has expired.", reason="expired_api_key")
        return key

    def refresh(self) -> Iterator[list[ApiKey]]:
        """Refresh the keys in use, some at a time, and drop those that are idle, settled and stale."""
        now = time.monotonic()
        used: list[bytes] = []
        for hashed, key in list(self._known.items()):
            if now - key.used_at < IDLE_SECONDS:
                used.append(hashed)
            elif not key.unsettled and now - key.read_at >= self._kept_seconds:
                self._known.pop(hashed, None)
        for first in range(0, len(used) if self._kept_seconds else 0, KEYS_AT_ONCE):
            yield self._read(used[first : first + KEYS_AT_ONCE])

    def _look_up(self, hashed: bytes, now: float) -> ApiKey | None:
        with self._lock:
            if hashed in self._unknown:
                return None
        for key in self._read([hashed]):
            return key
        with self._lock:
            self._unknown[hashed] = True
        return None

    def _read(self, hashes: list[bytes]) -> list[ApiKey]:
        began = time.monotonic()
        with self._database.read() as connection:
            rows = connection.execute(_FIND, {"key_hashes": hashes}).fetchall()
        found = {row["key_hash"]: row for row in rows}
        for hashed in hashes:
            if hashed not in found:
                self._known.pop(hashed, None)
        return [self._keep(hashed, row, began) for hashed, row in found.items()]

    def _keep(self, hashed: bytes, row: Row, began: float) -> ApiKey:
        limit = self._default_limit if row["rate"] is None else parse(row["rate"])
        # Of the hash, since several services may share one store of counts.
        label = hashed.hex()[:24]
        key = self._known.get(hashed) or self._known.setdefault(
            hashed, ApiKey(row["key_id"], label, row["name"], limit, limit.key_for(label), used_at=began)
        )
        if limit != key.limit:
            key.limit, key.window = limit, limit.key_for(label)
        key.expires_at, key.revoked_at = row["expires_at"], row["revoked_at"]
        key.unlimited = row["credits"] is None
        if self.reads_primary:
            with key.lock:
                key.learn(row["credits"], began)
        key.read_at = max(key.read_at, began)
        return key
