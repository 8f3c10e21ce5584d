"""The order in which changes arrive: numbers within transactions, and places after their commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from wallet_api.database import Connection, load_statements, locks
from wallet_api.ledger import staging

_NUMBERS = "SELECT nextval('arrival_numbers')"
_LOCK_PLACES = "SELECT pg_advisory_xact_lock(%(lock)s)"
_HAS_REMOVALS = "SELECT TRUE AS found FROM removals LIMIT 1"
_HAS_UNPLACED = "SELECT TRUE AS found FROM arrivals WHERE place IS NULL LIMIT 1"
_ARRIVALS = load_statements(__package__, "arrivals")


@dataclass(frozen=True)
class Purge:
    """What trades are removed by: all before a time; without one, all in their tokens."""

    before: datetime | None = None


@contextmanager
def change(connection: Connection) -> Iterator[None]:
    """Run a transaction that changes the ledger, and place it in the order of arrival after its commit."""
    with staging.transaction(connection):
        yield
    place(connection)


def place(connection: Connection) -> None:
    """Give all committed changes without a place one after all others, under a lock.

    So the order of places is an order of commits: what commits later is placed later. On Citus a change is
    committed by the coordinator before its workers commit it. While one of them has not, or is away, nothing
    is placed, since followers would not find its trades: place_left() places it later.
    """
    with connection.transaction():
        connection.execute(_LOCK_PLACES, {"lock": locks.PLACES})
        # Statements of their own, since each has to see what was committed before it.
        committed = [row["first_chunk"] for row in connection.execute(_ARRIVALS["unplaced"])]
        if connection.is_sharded and connection.fetch_value(_ARRIVALS["uncommitted"]):
            return
        connection.execute(_ARRIVALS["place"], {"committed": committed})


def place_left(connection: Connection) -> None:
    """Place what writers have left without a place: who were killed after their commit, or had to wait."""
    if connection.fetch_value(_HAS_UNPLACED):
        place(connection)


def take_numbers(connection: Connection) -> int:
    """Return the first of the chunk numbers of this transaction, which holds the locks of its wallets.

    So of two transactions that change the same wallet, the later one has larger numbers.
    """
    first_chunk: int = connection.fetch_value(_NUMBERS)
    return first_chunk


def record(connection: Connection, first_chunk: int, purge: Purge | None = None) -> None:
    """Record the removed trades of the transaction, or the purge that removed them, and its chunks."""
    parameters = {"first_chunk": first_chunk}
    if purge is None or not _record_purge(connection, first_chunk, purge):
        connection.execute(_ARRIVALS["removed"], parameters)
    # Most ledgers have no removals, in which to look up each new trade.
    if connection.fetch_value(_HAS_REMOVALS):
        connection.execute(_ARRIVALS["returned"])
    connection.execute(_ARRIVALS["arrived"], parameters)


def _record_purge(connection: Connection, first_chunk: int, purge: Purge) -> bool:
    """Record a purge, and return whether it is true of the whole ledger.

    It is not while trades remain that it names: those of later transactions, of positions that were left
    alone, and new ones. Times are shown in whole seconds, so that another time would not be exact.
    """
    token_ids = [row["token_id"] for row in connection.execute(_ARRIVALS["purged_tokens"])]
    parameters = {"first_chunk": first_chunk, "before": purge.before, "token_ids": token_ids}
    which = "of_tokens" if purge.before is None else "before"
    if purge.before is not None and purge.before.microsecond:
        return False
    if connection.fetch_value(_ARRIVALS[f"remains_{which}"], parameters):
        return False
    connection.execute(_ARRIVALS[f"purge_{which}"], parameters)
    return True


def record_wallet_removals(connection: Connection, wallet_ids: list[int], *, is_retyped: bool) -> None:
    """Record that wallets are removed or leave their group; called before they do."""
    parameters = {
        "first_chunk": take_numbers(connection),
        "wallet_ids": wallet_ids,
        "is_retyped": is_retyped,
    }
    for name in ("superseded_removals", "wallet_removals", "arrived"):
        connection.execute(_ARRIVALS[name], parameters)


def forget_wallet_removals(connection: Connection, wallet_ids: list[int]) -> None:
    """Forget that wallets had left the groups in which they are now."""
    connection.execute(_ARRIVALS["superseded_removals"], {"wallet_ids": wallet_ids, "is_retyped": True})
