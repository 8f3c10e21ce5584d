"""What calls cost: charged before they are answered, the last credit sold once, none lost: see Credits."""

import atexit
import logging
import time
from pathlib import Path
from threading import Event, Lock, Thread, current_thread

from wallet_api.access.journal import SUFFIX
from wallet_api.access.leases import ALIVE_SECONDS, Lease, Leases
from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import Forbidden, ServiceUnavailable

log = logging.getLogger(__name__)

_CHARGE = load_sql("wallet_api.access", "charge_credits")
_READ = load_sql("wallet_api.access", "read_credits")

MAX_LEASED_CALLS = 256
# What pays for this many calls stays in the balance, for all workers to charge call by call.
UNLEASED_CALLS = 1000
LEASE_SECONDS = 0.1
# A key that a worker charges again this soon is busy.
BUSY_SECONDS = 0.02
# By then a living worker has returned its lease.
YOUNG_SECONDS = 1.0
WAIT_SECONDS = 0.05
MAX_WAIT_SECONDS = 2.0
RECOVER_SECONDS = 1.0
RETRY_SECONDS = 0.5
IDLE_SECONDS = 3.0
REMEMBER_SECONDS = 0.5


class _Account:
    """One key's credits as this process knows them. Times are of the monotonic clock."""

    def __init__(self) -> None:
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
        self._lock = Lock()
        self._keeper: Thread | None = None
        self._needed = 0.0  # when the keeper last had reason to be there
        self._recovered = float("-inf")
        self._closed = Event()
        if any(folder.glob(f"*/*{SUFFIX}")):
            # Of a worker that was killed, if not of one that lives.
            self._wake_keeper()

    def charge(self, key_id: int) -> int:
        """Charge one call and return the credits left.

        Raises Forbidden, reason insufficient_credits, when there are none anywhere, and DatabaseUnavailable.
        """
        account = self._account(key_id)
        with account.lock:
            now = time.monotonic()
            busy, account.charged = now - account.charged < BUSY_SECONDS, now
            lease = account.lease
            if lease is None or lease.rest < self._cost or now >= lease.ends:
                self._end(account)
                lease = account.lease = self._lease(key_id, account, now) if busy else None
            if lease is None:
                self._charge_balance(key_id, account)
            else:
                self._leases.spend(lease, self._cost)
            return account.left

    def left(self, key_id: int) -> int:
        """The credits left. Raises DatabaseUnavailable."""
        account = self._account(key_id)
        with account.lock:
            if time.monotonic() - account.known > REMEMBER_SECONDS:
                self._read(key_id, account)
            return account.left

    def close(self) -> None:
        """Return all that is held; what the database cannot be told now is recovered from the journal."""
        self._closed.set()
        try:
            for account in list(self._accounts.values()):
                with account.lock:
                    self._end(account)
            self._leases.close()
        except ServiceUnavailable as error:
            log.warning("Leased credits will be returned by the next start: %s", error.message)

    def _account(self, key_id: int) -> _Account:
        return self._accounts.get(key_id) or self._accounts.setdefault(key_id, _Account())

    def _lease(self, key_id: int, account: _Account, now: float) -> Lease | None:
        calls = min(MAX_LEASED_CALLS, (account.balance // self._cost - UNLEASED_CALLS) // 20)
        if calls < 2 or self._closed.is_set():
            return None
        taken = self._leases.take(
            key_id, calls * self._cost, UNLEASED_CALLS * self._cost, now + LEASE_SECONDS
        )
        if taken is None:
            return None
        lease, row = taken
        account.learn(row)
        self._wake_keeper()
        return lease

    def _end(self, account: _Account) -> None:
        lease, account.lease = account.lease, None
        if lease is not None:
            self._leases.end(lease)
            if lease.rest:
                account.elsewhere += lease.rest
                self._leases.settle()

    def _charge_balance(self, key_id: int, account: _Account) -> None:
        patience = time.monotonic() + MAX_WAIT_SECONDS
        parameters = {
            "key_id": key_id,
            "cost": self._cost,
            "worker": self._leases.worker,
            "alive_seconds": ALIVE_SECONDS,
        }
        while True:
            with self._database.write() as connection:
                row = connection.execute(_CHARGE, parameters).fetchone()
            if row is not None:
                account.learn(row)
                return
            # Not in the balance; but is it in a lease that is about to be returned, or whose worker is dead?
            self._leases.settle()
            row = self._read(key_id, account)
            if account.balance >= self._cost:
                continue
            if row is not None and row["any_young"] and time.monotonic() < patience:
                time.sleep(WAIT_SECONDS)
            elif row is None or not row["any_old"] or not self._recover():
                raise Forbidden("This API key has no credits left.", reason="insufficient_credits")

    def _read(self, key_id: int, account: _Account) -> Row | None:
        with self._database.write() as connection:
            row = connection.execute(
                _READ,
                {
                    "key_id": key_id,
                    "worker": self._leases.worker,
                    "young_seconds": YOUNG_SECONDS,
                    "alive_seconds": ALIVE_SECONDS,
                },
            ).fetchone()
        if row is not None:
            account.learn(row)
        return row

    def _recover(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now - self._recovered < RECOVER_SECONDS:
                return False
            self._recovered = now
        return self._leases.recover() > 0

    def _wake_keeper(self) -> None:
        self._needed = time.monotonic()
        if self._keeper is None:
            with self._lock:
                if self._keeper is None:
                    # Once, however often the keeper comes back.
                    atexit.unregister(self.close)
                    atexit.register(self.close)
                    self._keeper = Thread(target=self._keep, name="credit-leases", daemon=True)
                    self._keeper.start()

    def _keep(self) -> None:
        try:
            self._return_leases()
        finally:
            with self._lock:
                if self._keeper is current_thread():
                    self._keeper = None

    def _return_leases(self) -> None:
        while not self._closed.wait(LEASE_SECONDS / 2):
            try:
                self._end_overdue()
                self._leases.settle()
                self._recover()
            except ServiceUnavailable as error:
                log.warning("Leased credits cannot be returned yet: %s", error.message)
                self._needed = time.monotonic()
                self._closed.wait(RETRY_SECONDS)
            with self._lock:
                if time.monotonic() - self._needed > IDLE_SECONDS:
                    self._keeper = None
                    return

    def _end_overdue(self) -> None:
        for account in list(self._accounts.values()):
            lease = account.lease
            if lease is not None and time.monotonic() >= lease.ends:
                with account.lock:
                    if account.lease is lease:
                        self._end(account)
