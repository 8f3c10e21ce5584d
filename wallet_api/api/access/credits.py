"""Credits: charged in memory, and in the database when few are left (docs/credits.md)."""

import logging
import math
import time

from prometheus_client import CollectorRegistry, Counter

from wallet_api.api.access.keyring import ApiKey
from wallet_api.api.access.limits import MeteredStorage
from wallet_api.api.access.settling import Settler
from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.database import Database, had_no_effect, load_statements
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

_CREDITS = load_statements("wallet_api.api.access", "credits")

# What pays for this many requests is charged in the database, one by one.
DIRECT_REQUESTS = 1_000
# Of a balance a worker holds at most this part unsettled.
UNSETTLED_PART = 100
# A balance read longer ago may have been spent by others meanwhile.
FRESH_SECONDS = 0.5


class Credits:
    """The charges of one process. The lock of an ApiKey guards its balance and its charges.

    A 200 costs `usual_cost`, but for the operations that have a cost of their own, in `costs`.
    """

    def __init__(
        self,
        database: Database,
        bulkhead: Bulkhead,
        settings: Settings,
        windows: MeteredStorage,
        registry: CollectorRegistry,
    ) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self.usual_cost = settings.credit_cost
        self.costs = dict(settings.credit_costs or ())
        self._highest_cost = max(self.usual_cost, *self.costs.values(), 0)
        self._windows = windows
        self._forgiven = Counter(
            "wallet_api_credits_forgiven",
            "Credits of answered requests that were not charged, by reason.",
            ("reason",),
            registry=registry,
        )
        self._settler = Settler("credits", self._write)

    def cost(self, operation: str) -> int:
        """Return what a request of an operation costs."""
        return self.costs.get(operation, self.usual_cost)

    def charge(self, key: ApiKey, cost: int) -> tuple[bool, int | None]:
        """Charge what one request costs; return whether that could be paid, and the credits left.

        They are None if unlimited. Raises DatabaseUnavailable.
        """
        self._settler.start()
        now = time.monotonic()
        with key.lock:
            unsettled = key.unsettled
            little = (unsettled + cost) * UNSETTLED_PART <= key.balance
            if little and self._settler.works and self._is_far(key, now):
                self._settler.add(key, cost)
                return True, key.remaining
        if unsettled:
            self._settler.wake()
        is_charged = self._run("charge", key, cost)
        if not is_charged:
            self._run("read", key)
        with key.lock:
            return is_charged, key.remaining

    def may_pay(self, key: ApiKey, cost: int, *, reads: bool) -> bool:
        """Return whether a key has credits for this cost. With `reads`, a balance in doubt is read.

        Raises DatabaseUnavailable.
        """
        if key.unlimited:
            return True
        left = self.remaining(key) if reads else key.remaining
        if reads and left is not None and left < cost:
            # It may have been topped up a moment ago.
            self._run("read", key)
            left = key.remaining
        return left is None or left >= cost

    def remaining(self, key: ApiKey) -> int | None:
        """Return the credits left; None for a key that has become unlimited. Raises DatabaseUnavailable."""
        now = time.monotonic()
        if now - key.balance_at > FRESH_SECONDS and not self._is_far(key, now):
            self._run("read", key)
        with key.lock:
            return key.remaining

    def close(self) -> None:
        """Settle all charges, while the database is open. What is charged after this is charged directly."""
        unsettled = self._settler.close()
        if unsettled:
            self._forgive(sum(unsettled.values()), "closed")

    def _is_far(self, key: ApiKey, now: float) -> bool:
        """Return whether more is left than other workers may have spent since the balance was read."""
        left = key.balance - key.unsettled - DIRECT_REQUESTS * self._highest_cost
        age = now - key.balance_at
        if left <= 0 or age <= FRESH_SECONDS:
            return left > 0
        if not self._windows.is_shared:
            return False
        windows = 1 + math.ceil(age / key.limit.get_expiry())
        return left > key.limit.amount * windows * self._highest_cost

    def _run(self, statement: str, key: ApiKey, cost: int = 0) -> bool:
        """Run a statement on the primary that returns the balance of one key; return whether it did."""
        began = time.monotonic()
        with self._bulkhead.slot(Wait.PRIMARY), self._database.write() as connection:
            parameters = {"key_id": key.row.key_id, "cost": cost}
            row = connection.execute(_CREDITS[statement], parameters).fetchone()
        if row is not None:
            with key.lock:
                key.set_balance(row["credits"], began)
        return row is not None

    def _write(self, amounts: dict[ApiKey, int]) -> None:
        """Charge the keys in one statement. A charge whose outcome is unknown is forgiven, never repeated."""
        began = time.monotonic()
        charges = {"key_ids": [key.row.key_id for key in amounts], "amounts": list(amounts.values())}
        try:
            with self._database.write() as connection:
                rows = connection.execute(_CREDITS["settle"], charges).fetchall()
        except Exception as error:
            if not had_no_effect(error):
                for key, amount in amounts.items():
                    with key.lock:
                        key.sent -= amount
                self._forgive(sum(amounts.values()), "outcome unknown")
            raise
        keys = {}
        balances = {row["key_id"]: row["credits"] for row in rows}
        for key, amount in amounts.items():
            keys[key.row.key_id] = key
            with key.lock:
                key.sent -= amount
                if key.row.key_id in balances:
                    key.set_balance(balances[key.row.key_id], began)
            if key.row.key_id not in balances:
                self._forgive(amount, "key deleted", key)
        for row in rows:
            if row["forgiven"]:
                self._forgive(row["forgiven"], "spent elsewhere", keys[row["key_id"]])

    def _forgive(self, amount: int, reason: str, key: ApiKey | None = None) -> None:
        self._forgiven.labels(reason).inc(amount)
        log.warning("Credits forgiven: %d%s: %s", amount, f" of {key.name!r}" if key else "", reason)
