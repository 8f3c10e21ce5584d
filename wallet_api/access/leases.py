"""Credits in the hands of a worker: taken from a balance, spent, returned, and recovered from the dead."""

import logging
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from uuid import UUID, uuid4

from wallet_api.access.journal import Journal, Remains, journals, remains
from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import ServiceUnavailable

log = logging.getLogger(__name__)

_FIND_LEDGER = load_sql("wallet_api.access", "find_ledger")
_LEASE = load_sql("wallet_api.access", "lease_credits")
_LIST = load_sql("wallet_api.access", "list_leases")
_RETURN = load_sql("wallet_api.access", "return_credits")

# A lease this old has a dead worker, or one that cannot reach the database.
ALIVE_SECONDS = 10.0
# The name of a worker that holds no leases.
_NOBODY = UUID(int=0)


@dataclass
class Lease:
    """Credits of one key that only this process may spend, until `ends` on the monotonic clock."""

    lease_id: UUID
    key_id: int
    amount: int
    ends: float
    slot: int
    spent: int = 0

    @property
    def rest(self) -> int:
        """What is not spent."""
        return self.amount - self.spent


class Leases:
    """The leases of one process. The journal of what it spends is made with the first one."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._own_folder: Path | None = None  # this database's, known once it was asked
        self._journal: Journal | None = None
        self._lock = Lock()
        self._possible = True
        # Not to be spent any more, and not known to be returned.
        self._ended: deque[Lease] = deque()

    @property
    def worker(self) -> UUID:
        """The name under which this process holds leases."""
        return _NOBODY if self._journal is None else self._journal.worker

    def take(self, key_id: int, amount: int, kept: int, ends: float) -> tuple[Lease, Row] | None:
        """A lease of `amount`, if `kept` stay in the balance, and the balance after it.

        None when less would stay, or when this process can keep no journal. Raises DatabaseUnavailable.
        """
        journal = self._journal or self._start_journal()
        lease_id = uuid4()
        slot = None if journal is None else journal.open(lease_id)
        if journal is None or slot is None:
            return None
        lease = Lease(lease_id, key_id, amount, ends, slot)
        try:
            with self._database.write() as connection:
                row = connection.execute(
                    _LEASE,
                    {
                        "lease_id": lease_id,
                        "key_id": key_id,
                        "worker": journal.worker,
                        "amount": amount,
                        "kept": kept,
                        "alive_seconds": ALIVE_SECONDS,
                    },
                ).fetchone()
        except ServiceUnavailable:
            # The lease may be there all the same.
            self._ended.append(lease)
            raise
        if row is None:
            journal.free(slot)
            return None
        return lease, row

    def spend(self, lease: Lease, cost: int) -> None:
        """Spend credits of a lease, so that even the death of this process does not undo it."""
        lease.spent += cost
        if self._journal is not None:
            self._journal.write(lease.slot, lease.spent)

    def end(self, lease: Lease) -> None:
        """Spend no more of a lease; settle() returns it."""
        self._ended.append(lease)

    def settle(self) -> None:
        """Return what is not spent of ended leases. Raises DatabaseUnavailable; then try again later."""
        while self._ended:
            try:
                lease = self._ended.popleft()
            except IndexError:
                return
            try:
                self._return(lease.lease_id, lease.spent)
            except ServiceUnavailable:
                self._ended.append(lease)
                raise
            if self._journal is not None:
                self._journal.free(lease.slot)

    def recover(self) -> int:
        """Return the leases of dead workers of this machine; how many. Raises DatabaseUnavailable."""
        recovered = 0
        if self._folder.is_dir():
            for path in journals(self._ledger_folder()):
                with remains(path) as dead:
                    if dead is not None:
                        recovered += self._return_remains(dead)
        return recovered

    def close(self) -> None:
        """End with nothing held, if the database can be told. No lease may be open."""
        self.settle()
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _return_remains(self, dead: Remains) -> int:
        with self._database.write() as connection:
            left = connection.execute(_LIST, {"worker": dead.worker}).fetchall()
        if left and not dead.proven:
            # Which credits were answered for is lost with what the machine had not written down.
            log.error(
                "The machine crashed while a worker held %d credits; they stay in credit_leases: worker %s",
                sum(row["amount"] for row in left),
                dead.worker,
            )
            dead.path.rename(dead.path.with_suffix(".unproven"))
            return 0
        for row in left:
            # A lease without a slot was never spent of.
            self._return(row["lease_id"], dead.spent.get(row["lease_id"], 0))
        dead.path.unlink(missing_ok=True)
        if left:
            log.warning("Returned the leases of a dead worker: %d", len(left))
        return len(left)

    def _return(self, lease_id: UUID, spent: int) -> None:
        with self._database.write() as connection:
            connection.execute(_RETURN, {"lease_id": lease_id, "spent": spent})

    def _start_journal(self) -> Journal | None:
        with self._lock:
            if self._journal is None and self._possible:
                try:
                    self._journal = Journal(self._ledger_folder())
                except OSError as error:
                    self._possible = False
                    log.warning(
                        "No journal of credits can be kept, each call is charged by itself: %s", error
                    )
            return self._journal

    def _ledger_folder(self) -> Path:
        if self._own_folder is None:
            with self._database.read() as connection:
                row = connection.execute(_FIND_LEDGER).fetchone()
            self._own_folder = self._folder / ("" if row is None else f"{row['ledger']}-{row['database']}")
        return self._own_folder
