"""The API keys in memory: looked up by hash at first use, and refreshed while they are used."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from cachetools import TTLCache
from limits import RateLimitItem, parse

from wallet_api.database import Connection, Database, load_sql
from wallet_api.errors import Forbidden
from wallet_api.keys import key_hash

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

    `label` may be shown. `balance` was read by a statement that ran from `balance_at` to `balance_until`;
    `owed` is charged since, `settling` is on its way there.
    """

    key_id: int
    label: str
    name: str
    limit: RateLimitItem
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

    @property
    def left(self) -> int | None:
        """The credits left; None if unlimited."""
        return None if self.unlimited else max(0, self.balance - self.unsettled)

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

    def __init__(self, database: Database, default_rate: str, kept_seconds: float) -> None:
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
            key = self._look_up(hashed)
        if key is None:
            raise Forbidden("This API key is not valid.", reason="invalid_api_key")
        key.used_at = now
        if key.revoked_at is not None:
            raise Forbidden("This API key has been revoked.", reason="revoked_api_key")
        if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
            raise Forbidden("This API key has expired.", reason="expired_api_key")
        return key

    def refresh(self) -> None:
        """Read the keys in use again, some at a time, and drop those that are idle, settled and stale."""
        now = time.monotonic()
        used: list[bytes] = []
        for hashed, key in list(self._known.items()):
            if now - key.used_at < IDLE_SECONDS:
                used.append(hashed)
            elif not key.unsettled and now - key.read_at >= self._kept_seconds:
                self._known.pop(hashed, None)
        for first in range(0, len(used) if self._kept_seconds else 0, KEYS_AT_ONCE):
            with self._database.read() as connection:
                self._read(connection, used[first : first + KEYS_AT_ONCE])

    def _look_up(self, hashed: bytes) -> ApiKey | None:
        with self._lock:
            if hashed in self._unknown:
                return None
        with self._database.read_briefly() as connection:
            self._read(connection, [hashed])
        key = self._known.get(hashed)
        if key is None:
            with self._lock:
                self._unknown[hashed] = True
        return key

    def _read(self, connection: Connection, hashes: list[bytes]) -> None:
        began = time.monotonic()
        rows = connection.execute(_FIND, {"key_hashes": hashes}).fetchall()
        for gone in set(hashes) - {row["key_hash"] for row in rows}:
            self._known.pop(gone, None)
        for row in rows:
            hashed = row["key_hash"]
            limit = self._default_limit if row["rate"] is None else parse(row["rate"])
            # Of the hash, since several services may share one store of counts.
            key = self._known.get(hashed) or self._known.setdefault(
                hashed, ApiKey(row["key_id"], hashed.hex()[:24], row["name"], limit, used_at=began)
            )
            key.limit, key.unlimited = limit, row["credits"] is None
            key.expires_at, key.revoked_at = row["expires_at"], row["revoked_at"]
            # A standby may not know yet what was charged.
            if self._database.reads_primary:
                with key.lock:
                    key.learn(row["credits"], began)
            key.read_at = max(key.read_at, began)
