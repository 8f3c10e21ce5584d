"""Credits in the hands of a worker: taken from a balance, spent, returned, and recovered from the dead."""

import logging
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID, uuid4

from wallet_api.access.journal import SUFFIX, Journal, Remains, journals, remains
from wallet_api.database import Database, Row, load_sql
from wallet_api.errors import ServiceUnavailable

log = logging.getLogger(__name__)

_EXTEND = load_sql("wallet_api.access", "extend_lease")
_FIND_LEDGER = load_sql("wallet_api.access", "find_ledger")
_LIST = load_sql("wallet_api.access", "list_leases")
_RETURN = load_sql("wallet_api.access", "return_lease")
_TAKE = load_sql("wallet_api.access", "take_lease")

# A lease this old has a dead worker, or one that cannot reach the database.
ALIVE_SECONDS = 10.0
# The name of a worker that holds no leases.
_NOBODY = UUID(int=0)


@dataclass
class Lease:
    """Credits of one key that only this process may spend. Times are of the monotonic clock.

    Below half of `target` it is `low`, and should be extended.
    """

    lease_id: UUID
    key_id: int
    slot: int
    amount: int
    target: int
    renewed: float
    used: float
    spent: int = 0
    low: bool = False

    @property
    def rest(self) -> int:
        """What is not spent."""
        return self.amount - self.spent


class Leases:
    """The leases of one process, and the journal of what it spends, which is made with the first of them.

    Leases are taken, extended and returned by one thread; any thread that sees to it that no other does may
    spend one.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._own_folder: Path | None = None  # this database's, known once it was asked
        self._journal: Journal | None = None
        # Not to be spent any more, and not known to be returned.
        self._ended: deque[Lease] = deque()
        self.possible = True

    @property
    def worker(self) -> UUID:
        """The name under which this process holds leases."""
        return _NOBODY if self._journal is None else self._journal.worker

    @property
    def others_exist(self) -> bool:
        """Whether there are journals, be it of dead workers or of living ones."""
        return any(self._folder.glob(f"*/*{SUFFIX}"))

    def take(self, key_id: int, amount: int, kept: int, now: float) -> tuple[Lease, Row] | None:
        """A lease of `amount`, if `kept` stay in the balance, and the balance after it.

        None when less would stay, or when this process can keep no journal. Raises DatabaseUnavailable.
        """
        journal = self._journal or self._start_journal()
        lease_id = uuid4()
        slot = None if journal is None else journal.open(lease_id)
        if journal is None or slot is None:
            return None
        lease = Lease(lease_id, key_id, slot, amount, target=amount, renewed=now, used=now)
        try:
            row = self._run(_TAKE, lease_id=lease_id, key_id=key_id, amount=amount, kept=kept)
        except ServiceUnavailable:
            # The lease may be there all the same.
            self._ended.append(lease)
            raise
        if row is None:
            journal.free(slot)
            return None
        return lease, row

    def extend(self, lease: Lease, amount: int, kept: int) -> Row | None:
        """Take `amount` more for a lease, and tell everyone that it lives; the balance after it.

        The caller then adds the amount to the lease. None when less than `kept` would stay in the balance.
        Raises DatabaseUnavailable; should the amount have been taken all the same, it is returned at the end.
        """
        return self._run(_EXTEND, lease_id=lease.lease_id, spent=lease.spent, amount=amount, kept=kept)

    def spend(self, lease: Lease, cost: int) -> None:
        """Spend credits of a lease, so that even the death of this process does not undo it."""
        lease.spent += cost
        if self._journal is not None:
            self._journal.write(lease.slot, lease.spent)

    def end(self, lease: Lease) -> None:
        """Return a lease, now or, after DatabaseUnavailable, with the next settle()."""
        self._ended.append(lease)
        self.settle()

    def settle(self) -> None:
        """Return what is not spent of ended leases. Raises DatabaseUnavailable; then try again later."""
        while self._ended:
            lease = self._ended[0]
            self._run(_RETURN, lease_id=lease.lease_id, spent=lease.spent)
            self._ended.popleft()
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
        """End with nothing held. Raises DatabaseUnavailable; then the journal stays for others to recover."""
        self.possible = False
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
                sum(row["held"] for row in left),
                dead.worker,
            )
            dead.path.rename(dead.path.with_suffix(".unproven"))
            return 0
        for row in left:
            # A lease without a slot was never spent of.
            self._run(_RETURN, lease_id=row["lease_id"], spent=dead.spent.get(row["lease_id"], row["spent"]))
        dead.path.unlink(missing_ok=True)
        if left:
            log.warning("Returned the leases of a dead worker: %d", len(left))
        return len(left)

    def _run(self, query: LiteralString, **parameters: Any) -> Row | None:
        parameters |= {"worker": self.worker, "alive_seconds": ALIVE_SECONDS}
        with self._database.write() as connection:
            cursor = connection.execute(query, parameters)
            return cursor.fetchone() if cursor.description else None

    def _start_journal(self) -> Journal | None:
        if self.possible:
            try:
                self._journal = Journal(self._ledger_folder())
            except OSError as error:
                self.possible = False
                log.warning("No journal of credits can be kept, each call is charged by itself: %s", error)
        return self._journal

    def _ledger_folder(self) -> Path:
        if self._own_folder is None:
            with self._database.read() as connection:
                row = connection.execute(_FIND_LEDGER).fetchone()
            self._own_folder = self._folder / ("" if row is None else f"{row['ledger']}-{row['database']}")
        return self._own_folder
