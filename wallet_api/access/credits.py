"""What calls cost: charged before they are answered, the last sold once, none lost. See docs/credits.md."""

import logging
import time
from pathlib import Path
from threading import Lock
from typing import Any

from wallet_api.access.keeper import Keeper
from wallet_api.access.leases import ALIVE_SECONDS, Lease, Leases
from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import Forbidden, ServiceUnavailable

log = logging.getLogger(__name__)

_CHARGE = load_sql("wallet_api.access", "charge_credits")
_READ = load_sql("wallet_api.access", "read_credits")

LEASED_CALLS = 256
MIN_LEASED_CALLS = 16
# What pays for this many calls stays in the balance, for all workers to charge call by call.
UNLEASED_CALLS = 1000
# A key that a worker charges again this soon is busy.
BUSY_SECONDS = 0.02
# A lease that is not used for so long is returned; one that is used is renewed.
IDLE_SECONDS = 0.1
RENEW_SECONDS = 0.3
# A lease that was renewed since then belongs to a living worker.
YOUNG_SECONDS = 1.0
WAIT_SECONDS = 0.05
PATIENCE_SECONDS = 2.0
RECOVER_SECONDS = 1.0
REMEMBER_SECONDS = 0.5


class _Account:
    """One key's credits as this process knows them. Times are of the monotonic clock."""

    def __init__(self, key_id: int) -> None:
        self.key_id = key_id
        self.lock = Lock()
        self.lease: Lease | None = None
        self.balance = 0
        self.elsewhere = 0  # the balance, and what other workers hold
        self.known = 0.0  # when the two were read
        self.charged = 0.0

    @property
    def left(self) -> int:
        return self.elsewhere + (0 if self.lease is None else self.lease.rest)

    def learn(self, row: Row) -> None:
        self.balance = row["credits"] or 0
        self.elsewhere = self.balance + row["leased_elsewhere"]
        self.known = time.monotonic()


class Credits:
    """The charges of one process. A lease is only a faster way to charge: it changes no answer."""

    def __init__(self, database: Database, cost: int, folder: Path) -> None:
        self._database = database
        self._cost = cost
        self._leases = Leases(database, folder)
        self._accounts: dict[int, _Account] = {}
        self._busy: set[int] = set()  # keys that want a lease
        self._leased: set[int] = set()  # keys that have one
        self._lock = Lock()
        self._recovered = float("-inf")
        self._keeper = Keeper("leases of credits", self._tend, self.close)
        if self._leases.others_exist:
            self._keeper.wake()

    def charge(self, key_id: int) -> int:
        """Charge one call and return the credits left.

        Raises Forbidden, reason insufficient_credits, when there are none anywhere, and DatabaseUnavailable.
        """
        account = self._account(key_id)
        patience = time.monotonic() + PATIENCE_SECONDS
        while True:
            left = self._spend(account)
            if left is None:
                left = self._charge_balance(account)
            if left is not None:
                return left
            self._await_more(account, patience)

    def left(self, key_id: int) -> int:
        """The credits left. Raises DatabaseUnavailable."""
        account = self._account(key_id)
        if account.lease is None and time.monotonic() - account.known > REMEMBER_SECONDS:
            self._read(account)
        return account.left

    def close(self) -> None:
        """Return all that is held; what the database cannot be told now is recovered from the journal."""
        self._keeper.close()
        try:
            for key_id in list(self._leased):
                self._end(self._account(key_id))
            self._leases.close()
        except ServiceUnavailable as error:
            log.warning("Leased credits will be returned by the next start: %s", error.message)

    def _account(self, key_id: int) -> _Account:
        return self._accounts.get(key_id) or self._accounts.setdefault(key_id, _Account(key_id))

    def _spend(self, account: _Account) -> int | None:
        """The credits left after a charge to the lease; None when there is none to charge."""
        now = time.monotonic()
        with account.lock:
            busy, account.charged = now - account.charged < BUSY_SECONDS, now
            lease = account.lease
            if lease is None:
                if busy and self._leases.possible and self._leasable(account):
                    self._busy.add(account.key_id)
                    self._keeper.wake()
                return None
            if lease.rest < self._cost:
                return None
            self._leases.spend(lease, self._cost)
            lease.used = now
            if lease.rest < lease.target // 2 and not lease.low:
                lease.low = True
                self._keeper.wake()
            return account.left

    def _charge_balance(self, account: _Account) -> int | None:
        """The credits left after a charge to the balance; None when it does not cover one."""
        with self._database.write() as connection:
            row = connection.execute(_CHARGE, self._parameters(account)).fetchone()
        if row is None:
            return None
        with account.lock:
            if account.lease is None:
                account.learn(row)
            else:
                account.elsewhere -= self._cost
            return account.left

    def _await_more(self, account: _Account, patience: float) -> None:
        """Return when it is worth another try, since leased credits may come back. Raises Forbidden."""
        row = self._read(account)
        if account.balance >= self._cost:
            return
        if row is not None and row["any_young"] and time.monotonic() < patience:
            time.sleep(WAIT_SECONDS)
        elif row is None or not row["any_old"] or not self._recover():
            raise Forbidden("This API key has no credits left.", reason="insufficient_credits")

    def _read(self, account: _Account) -> Row | None:
        with self._database.write() as connection:
            row = connection.execute(_READ, self._parameters(account)).fetchone()
        if row is not None:
            with account.lock:
                account.learn(row)
        return row

    def _parameters(self, account: _Account) -> dict[str, Any]:
        return {
            "key_id": account.key_id,
            "cost": self._cost,
            "worker": self._leases.worker,
            "young_seconds": YOUNG_SECONDS,
            "alive_seconds": ALIVE_SECONDS,
        }

    def _recover(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now - self._recovered < RECOVER_SECONDS:
                return False
            self._recovered = now
        return self._leases.recover() > 0

    def _leasable(self, account: _Account) -> int:
        """How much a lease may take now."""
        calls = min(LEASED_CALLS, (account.balance // self._cost - UNLEASED_CALLS) // 20)
        return calls * self._cost if calls >= MIN_LEASED_CALLS else 0

    # What follows is the keeper's.

    def _tend(self) -> bool:
        while self._busy:
            self._take(self._account(self._busy.pop()))
        for key_id in list(self._leased):
            self._tend_lease(self._account(key_id))
        self._leases.settle()
        self._recover()
        return bool(self._leased)

    def _take(self, account: _Account) -> None:
        with account.lock:
            amount = self._leasable(account)
            if account.lease is not None or not amount:
                return
            taken = self._leases.take(account.key_id, amount, UNLEASED_CALLS * self._cost, time.monotonic())
            if taken is not None:
                account.lease, row = taken
                account.learn(row)
                self._leased.add(account.key_id)

    def _tend_lease(self, account: _Account) -> None:
        lease, now = account.lease, time.monotonic()
        if lease is None:
            return
        if now - lease.used < IDLE_SECONDS:
            if not lease.low and now - lease.renewed < RENEW_SECONDS:
                return
            # Meanwhile calls go on spending, so their lock is not taken.
            amount = max(0, self._leasable(account) - lease.rest)
            row = self._leases.extend(lease, amount, UNLEASED_CALLS * self._cost)
            if row is not None:
                with account.lock:
                    lease.amount += amount
                    lease.target = lease.rest
                    lease.renewed, lease.low = now, False
                    account.learn(row)
                return
        with account.lock:
            self._end(account)

    def _end(self, account: _Account) -> None:
        lease, account.lease = account.lease, None
        self._leased.discard(account.key_id)
        if lease is not None:
            account.elsewhere += lease.rest
            self._leases.end(lease)
