"""Credits: charged in memory, and in the database when few are left (docs/credits.md)."""

import logging
import math
import time
from typing import LiteralString

from prometheus_client import CollectorRegistry, Counter

from wallet_api.access.keyring import ApiKey
from wallet_api.access.limits import MeteredStorage
from wallet_api.bulkhead import Bulkhead, Wait
from wallet_api.database import Database, had_no_effect, load_sql
from wallet_api.recurring import Recurring

log = logging.getLogger(__name__)

_CHARGE = load_sql("wallet_api.access", "charge_credits")
_READ = load_sql("wallet_api.access", "read_balance")
_SETTLE = load_sql("wallet_api.access", "settle_credits")

SETTLE_SECONDS = 0.05
# What pays for this many requests is charged in the database, one by one.
DIRECT_CALLS = 1_000
# Of a balance a worker holds at most this part unsettled.
UNSETTLED_PART = 100
# A balance read longer ago may have been spent by others meanwhile.
FRESH_SECONDS = 0.5
# Without success for so long, the database counts as away.
LATE_SECONDS = 1.0


class Credits:
    """The charges of one process. The lock of an ApiKey guards its balance and its charges."""

    def __init__(
        self,
        database: Database,
        bulkhead: Bulkhead,
        cost: int,
        windows: MeteredStorage,
        registry: CollectorRegistry,
    ) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._cost = cost
        self._windows = windows
        self._forgiven = Counter(
            "wallet_api_credits_forgiven",
            "Credits of answered requests that were not charged, by reason.",
            ("reason",),
            registry=registry,
        )
        self._charged: dict[ApiKey, None] = {}
        # Since when no settlement has succeeded.
        self._late_since = math.inf
        self._settler = Recurring("credits", self._settle, SETTLE_SECONDS)

    def charge(self, key: ApiKey) -> tuple[bool, int | None]:
        """Charge one request; return whether it could be paid, and the credits left, None if unlimited.

        Raises DatabaseUnavailable.
        """
        self._settler.start()
        now = time.monotonic()
        with key.lock:
            unsettled = key.unsettled
            little = (unsettled + self._cost) * UNSETTLED_PART <= key.balance
            settles = now - self._late_since < LATE_SECONDS and not self._settler.closed
            if little and settles and self._is_far(key, now):
                key.owed += self._cost
                self._charged[key] = None
                return True, key.left
        if unsettled:
            self._settler.wake()
        is_charged = self._run(_CHARGE, key)
        if not is_charged:
            self._run(_READ, key)
        with key.lock:
            return is_charged, key.left

    def left(self, key: ApiKey) -> int | None:
        """Return the credits left; None for a key that has become unlimited. Raises DatabaseUnavailable."""
        now = time.monotonic()
        if now - key.balance_at > FRESH_SECONDS and not self._is_far(key, now):
            self._run(_READ, key)
        with key.lock:
            return key.left

    def close(self) -> None:
        """Settle all charges, while the database is open. What is charged after this is charged directly."""
        self._settler.close()
        left = sum(key.unsettled for key in list(self._charged))
        if left:
            self._forgive(left, "closed")

    def _is_far(self, key: ApiKey, now: float) -> bool:
        """Return whether more is left than other workers may have spent since the balance was read."""
        left = key.balance - key.unsettled - DIRECT_CALLS * self._cost
        age = now - key.balance_at
        if left <= 0 or age <= FRESH_SECONDS:
            return left > 0
        if not self._windows.is_shared:
            return False
        windows = 1 + math.ceil(age / key.limit.get_expiry())
        return left > key.limit.amount * windows * self._cost

    def _run(self, statement: LiteralString, key: ApiKey) -> bool:
        """Run a statement on the primary that returns the balance of one key; return whether it did."""
        began = time.monotonic()
        with self._bulkhead.slot(Wait.PRIMARY), self._database.write() as connection:
            row = connection.execute(statement, {"key_id": key.terms.key_id, "cost": self._cost}).fetchone()
        if row is not None:
            with key.lock:
                key.learn(row["credits"], began)
        return row is not None

    def _settle(self) -> None:
        batch: dict[int, ApiKey] = {}
        for key in list(self._charged):
            # A key that was forgotten and read again is another object, and has to wait for its turn.
            if key.terms.key_id not in batch:
                del self._charged[key]
                with key.lock:
                    key.settling, key.owed = key.owed, 0
                if key.settling:
                    batch[key.terms.key_id] = key
        if not batch:
            return
        began = time.monotonic()
        self._late_since = min(self._late_since, began)
        owed = [key.settling for key in batch.values()]
        try:
            with self._database.write() as connection:
                rows = connection.execute(_SETTLE, {"key_ids": list(batch), "owed": owed}).fetchall()
        except Exception as error:
            can_be_repeated = had_no_effect(error)
            for key in batch.values():
                with key.lock:
                    if can_be_repeated:
                        key.owed += key.settling
                        self._charged[key] = None
                    key.settling = 0
            if not can_be_repeated:
                self._forgive(sum(owed), "outcome unknown")
            raise
        self._late_since = math.inf
        for row in rows:
            key = batch.pop(row["key_id"])
            with key.lock:
                key.settling = 0
                key.learn(row["credits"], began)
            if row["forgiven"]:
                self._forgive(row["forgiven"], "spent elsewhere", key)
        for key in batch.values():
            self._forgive(key.settling, "key deleted", key)
            key.settling = 0

    def _forgive(self, amount: int, reason: str, key: ApiKey | None = None) -> None:
        self._forgiven.labels(reason).inc(amount)
        log.warning("Credits forgiven: %d%s: %s", amount, f" of {key.name!r}" if key else "", reason)
