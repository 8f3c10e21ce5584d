"""`wallet-api sync trades` beside a removal: a wallet that is tracked no more leaves no state behind."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from flask import Response

from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.sync.door import Operator, addresses
from wallet_api.database import connect

SOL = "So11111111111111111111111111111111111111112"
MINT = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
REMOVED, KEPT = addresses("solana", 2)
NOW = datetime.now(UTC).replace(microsecond=0)
_REMOVE = "DELETE FROM wallets WHERE address = %s"
_WAITING = """
SELECT count(*) AS n
  FROM pg_stat_activity
 WHERE datname = current_database()
   AND wait_event_type = 'Lock'
"""


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """Two wallets of one trade each."""
    operator.track(("solana", REMOVED), ("solana", KEPT))
    for address in (REMOVED, KEPT):
        stub.swaps.add(
            "solana", address, swap(address, NOW - timedelta(minutes=5), leg(MINT, "1"), leg(SOL, "1"), 1.0)
        )


def states(operator: Operator) -> list[str]:
    """The addresses of the wallets that have a state."""
    rows = operator.fetch("SELECT address FROM sync_wallets LEFT JOIN wallets USING (wallet_id)")
    return [row["address"] for row in rows]


@pytest.mark.parametrize("fails", [False, True])
def test_a_wallet_that_is_removed_while_it_is_read_gets_no_state(
    stub: Stub, operator: Operator, fails: bool
) -> None:
    def remove() -> Response | None:
        with connect(operator.url) as connection:
            connection.execute(_REMOVE, [REMOVED])
        return faults.status(400)() if fails else None  # type: ignore[return-value]

    stub.scenarios[REMOVED] = remove
    operator.sync()
    assert states(operator) == [KEPT]
    del stub.scenarios[REMOVED]
    assert (operator.sync().status, states(operator)) == (0, [KEPT])


def test_a_wallet_that_is_removed_while_its_state_is_saved_gets_none(stub: Stub, operator: Operator) -> None:
    removing = threading.Event()

    def remove() -> None:
        with connect(operator.url) as connection, connection.transaction():
            connection.execute(_REMOVE, [REMOVED])
            removing.set()
            # Until the sync's statement, which has read the wallet, waits for this transaction.
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and not _is_waited_for(operator):
                time.sleep(0.02)

    thread = threading.Thread(target=remove)

    def answer() -> Response | None:
        if not thread.is_alive():
            thread.start()
            removing.wait(10)
        return faults.status(400)()  # type: ignore[return-value]

    stub.scenarios[REMOVED] = answer
    done = operator.sync()
    thread.join()
    assert (done.only["synced"], done.only["failures"]) == (1, {"rejected": 1})
    assert states(operator) == [KEPT]


def _is_waited_for(operator: Operator) -> bool:
    (row,) = operator.fetch(_WAITING)
    return bool(row["n"])
