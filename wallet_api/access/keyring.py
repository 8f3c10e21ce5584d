"""Which key a caller presents: read from the request, looked up by its hash, remembered for a few seconds."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from cachetools import TLRUCache, TTLCache
from limits import RateLimitItem

from wallet_api.access.keys import key_hash
from wallet_api.access.rates import rate_limit
from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import Forbidden

# The longest thing that is looked up; our own keys have 46 characters.
MAX_KEY = 256
MAX_REMEMBERED = 10_000
UNKNOWN_SECONDS = 1.0

_FIND = load_sql("wallet_api.access", "find_key")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it was when it was read. `label` may be told; `unlimited` has no balance to charge.

    `window` is the name under which its calls are counted.
    """

    key_id: int
    label: str
    name: str
    unlimited: bool
    limit: RateLimitItem
    window: str
    expires_at: datetime | None
    revoked_at: datetime | None


def bearer_key(authorization: str | None) -> str | None:
    """The key in an Authorization header; None when there is none or it is malformed (RFC 6750, 2.1)."""
    if authorization is None:
        return None
    scheme, _, key = authorization.partition(" ")
    key = key.strip(" ")
    if scheme.lower() != "bearer" or not key or " " in key:
        return None
    return key


def may_hold_key(query: bytes) -> bool:
    """Whether a query string may have the parameter api_key, in whatever encoding; it is not taken apart."""
    return b"api_key" in query or b"%" in query


class KeyRing:
    """The keys one process has met. Unknown ones are kept apart, so that guesses push out no good key."""

    def __init__(
        self,
        database: Database,
        default_rate: str,
        remember_seconds: float,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._default_limit = rate_limit(default_rate)
        self._lock = Lock()

        def until(_hash: bytes, _key: ApiKey, now: float) -> float:
            # Between three quarters and the whole, so that workers do not all ask again at once.
            return now + remember_seconds * random.uniform(0.75, 1.0)  # noqa: S311

        self._known: TLRUCache[bytes, ApiKey] = TLRUCache(MAX_REMEMBERED, ttu=until, timer=timer)
        self._unknown: TTLCache[bytes, bool] = TTLCache(
            MAX_REMEMBERED, ttl=min(UNKNOWN_SECONDS, remember_seconds), timer=timer
        )

    def find(self, text: str) -> ApiKey:
        """The key that `text` is, good to be used now.

        Raises Forbidden with reason invalid_api_key, revoked_api_key or expired_api_key.
        """
        key = self._lookup(text)
        if key is None:
            raise Forbidden("This API key is not valid.", reason="invalid_api_key")
        if key.revoked_at is not None:
            raise Forbidden("This API key has been revoked.", reason="revoked_api_key")
        if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
            raise Forbidden("This API key has expired.", reason="expired_api_key")
        return key

    def _lookup(self, text: str) -> ApiKey | None:
        if len(text) > MAX_KEY:
            return None
        hashed = key_hash(text)
        with self._lock:
            try:
                # get() looks the key up three times.
                return self._known[hashed]
            except KeyError:
                if hashed in self._unknown:
                    return None
        with self._database.read() as connection:
            row = connection.execute(_FIND, {"key_hash": hashed}).fetchone()
        with self._lock:
            if row is None:
                self._unknown[hashed] = True
                return None
            key = self._known[hashed] = self._key(hashed, row)
        return key

    def _key(self, hashed: bytes, row: Row) -> ApiKey:
        limit = self._default_limit if row["rate"] is None else rate_limit(row["rate"])
        # Of the hash, since several services may share one store of counts.
        label = hashed.hex()[:24]
        return ApiKey(
            key_id=row["key_id"],
            label=label,
            name=row["name"],
            unlimited=row["unlimited"],
            limit=limit,
            window=limit.key_for(label),
            expires_at=row["expires_at"],
            revoked_at=row["revoked_at"],
        )
