"""The API keys in memory: looked up by hash at first use, and refreshed while they are used."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple

from cachetools import TTLCache
from limits import RateLimitItem, parse

from wallet_api.api.access.scopes import UNBOUND, KeyScope
from wallet_api.api.access.settling import Account
from wallet_api.api.keys import key_hash
from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.base.errors import Forbidden
from wallet_api.base.times import next_month
from wallet_api.database import Database, load_sql, tuple_row

MAX_UNKNOWN = 10_000
UNKNOWN_SECONDS = 1.0
# A key that was not used for so long is no longer refreshed, and dropped.
IDLE_SECONDS = 60.0
KEYS_AT_ONCE = 1_000

_FIND = load_sql("wallet_api.api.access", "find_keys")
_NEVER = float("-inf")


class KeyRow(NamedTuple):
    """A key as it is in the database."""

    key_id: int
    key_hash: bytes
    name: str
    credits: int | None
    rate: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    created_at: datetime
    previous_hash: bytes | None
    previous_until: datetime | None
    monthly: int | None
    chains: list[str] | None
    types: list[str] | None
    operations: list[str] | None

    @property
    def hashes(self) -> set[bytes]:
        """The hashes of its secrets: two after a rotation."""
        return {self.key_hash} if self.previous_hash is None else {self.key_hash, self.previous_hash}

    def expires(self, hashed: bytes) -> datetime | None:
        """Return when a secret of this hash expires; None if it does not."""
        if hashed == self.key_hash or self.previous_until is None:
            return self.expires_at
        return min(self.previous_until, self.expires_at or self.previous_until)


@dataclass(slots=True, eq=False)
class ApiKey(Account):
    """A key as last read, and what this process has charged to it. Times are of the monotonic clock.

    `label` may be shown. `window` is the name of its counts. `balance` was read by a statement that ran from
    `balance_at` to `balance_until`.
    """

    label: str
    limit: RateLimitItem
    row: KeyRow
    scope: KeyScope = UNBOUND
    window: str = ""
    unlimited: bool = False
    read_at: float = _NEVER
    used_at: float = _NEVER
    balance: int = 0
    balance_at: float = _NEVER
    balance_until: float = _NEVER

    @property
    def name(self) -> str:
        """The name that the operator gave it."""
        return self.row.name

    @property
    def renews_at(self) -> datetime | None:
        """When its balance becomes that of the next month of UTC; None for one without monthly credits."""
        return None if self.row.monthly is None else next_month(datetime.now(UTC))

    @property
    def remaining(self) -> int | None:
        """The credits left; None if unlimited."""
        return None if self.unlimited else max(0, self.balance - self.unsettled)

    def set_balance(self, balance: int | None, began: float) -> None:
        """Store a balance read by a statement that started at `began`; None is unlimited.

        Of two statements that ran at once, the lower balance is the later one, or it errs on the safe side.
        """
        self.unlimited = balance is None
        if balance is not None and (began >= self.balance_until or balance < self.balance):
            self.balance, self.balance_at, self.balance_until = balance, began, time.monotonic()


class KeyRing:
    """The keys that this process has looked up. Guesses are kept apart, and evict no valid key."""

    def __init__(self, database: Database, bulkhead: Bulkhead, default_rate: str, ttl_seconds: float) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._default_limit = parse(default_rate)
        self._ttl_seconds = ttl_seconds
        self._known: dict[bytes, ApiKey] = {}
        self._by_id: dict[int, ApiKey] = {}
        self._lock = Lock()
        self._unknown: TTLCache[bytes, bool] = TTLCache(MAX_UNKNOWN, ttl=min(UNKNOWN_SECONDS, ttl_seconds))

    def find(self, text: str) -> tuple[ApiKey, datetime | None]:
        """Return the key `text` if it may be used now, and until when that is; None if it does not end.

        Raises Forbidden with reason invalid_api_key, revoked_api_key or expired_api_key.
        """
        hashed = key_hash(text)
        key = self._known.get(hashed)
        now = time.monotonic()
        if key is None or now - key.read_at >= self._ttl_seconds:
            key = self._look_up(hashed)
        if key is None or hashed not in (key.row.key_hash, key.row.previous_hash):
            raise Forbidden("invalid_api_key")
        key.used_at = now
        if key.row.revoked_at is not None:
            raise Forbidden("revoked_api_key")
        expires_at = key.row.expires(hashed)
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise Forbidden("expired_api_key")
        return key, expires_at

    def refresh(self) -> None:
        """Read the keys in use again, some at a time, and drop those that are idle, settled and stale."""
        now = time.monotonic()
        used: list[ApiKey] = []
        for key in list(self._by_id.values()):
            if now - key.used_at < IDLE_SECONDS:
                used.append(key)
            elif not key.unsettled and now - key.read_at >= self._ttl_seconds:
                self._drop(key)
        for first in range(0, len(used) if self._ttl_seconds else 0, KEYS_AT_ONCE):
            self._read_again({key.row.key_id: key for key in used[first : first + KEYS_AT_ONCE]})

    def _look_up(self, hashed: bytes) -> ApiKey | None:
        with self._lock:
            if hashed in self._unknown:
                return None
        began = time.monotonic()
        with self._bulkhead.slot(Wait.KEY):
            rows = self._read(hashed=hashed)
        known = self._known.get(hashed)
        if known is not None and (not rows or rows[0][0] != known.row.key_id):
            self._known.pop(hashed, None)
        if not rows:
            with self._lock:
                self._unknown[hashed] = True
            return None
        row = KeyRow(*rows[0])
        label, limit = _label(row), self._default_limit
        new = ApiKey(label, limit, row, window=limit.key_for(label), used_at=began)
        # Both secrets of a key have one balance and one rate.
        key = self._by_id.setdefault(row.key_id, new)
        self._known[hashed] = key
        self._apply(key, row, began)
        key.read_at = max(key.read_at, began)
        return key

    def _read_again(self, keys: dict[int, ApiKey]) -> None:
        began = time.monotonic()
        for row in self._read(list(keys)):
            key = keys.pop(row[0])
            if row != key.row:
                self._apply(key, KeyRow(*row), began)
            key.read_at = began
        for deleted in keys.values():
            self._drop(deleted)

    def _read(self, key_ids: Sequence[int] = (), hashed: bytes | None = None) -> list[tuple[Any, ...]]:
        with self._database.read() as connection:
            # Tuples, since most are as they were, and are only compared.
            cursor = connection.cursor(row_factory=tuple_row)
            return cursor.execute(_FIND, {"key_ids": list(key_ids), "key_hash": hashed}).fetchall()

    def _drop(self, key: ApiKey) -> None:
        self._by_id.pop(key.row.key_id, None)
        for hashed in key.row.hashes:
            self._known.pop(hashed, None)

    def _apply(self, key: ApiKey, row: KeyRow, began: float) -> None:
        for hashed in key.row.hashes - row.hashes:
            self._known.pop(hashed, None)
        key.row = row
        limit = self._default_limit if row.rate is None else parse(row.rate)
        if limit is not key.limit:
            key.limit, key.window = limit, limit.key_for(key.label)
        key.scope = KeyScope.from_words(row.chains, row.types)
        with key.lock:
            key.unlimited = row.credits is None
            # A standby may lack what was charged a moment ago.
            if self._database.reads_primary:
                key.set_balance(row.credits, began)


def _label(row: KeyRow) -> str:
    """Return a name of the key that no rotation changes, and no other service that shares the store has."""
    return sha256(f"{row.key_id} {row.created_at.timestamp()}".encode()).hexdigest()[:24]
