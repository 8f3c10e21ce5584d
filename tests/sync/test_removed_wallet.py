"""A wallet that is removed during a sync: only it fails, and it leaves nothing behind."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from flask import Response

from tests.ledger.contents import orphans
from tests.ledger.in_process import Importer
from tests.lib.waiting import eventually, somebody_waits
from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import WRAPPED
from tests.sync.operator import Operator, addresses
from tests.sync.solana import FART
from wallet_api.database import connect
from wallet_api.ledger.rebuild import rebuild_ledger

KEPT, GONE = addresses("solana", 2)
REMOVAL = {"blockchain": "solana", "wallet_address": GONE}


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """Two wallets with a trade each."""
    operator.track(("solana", KEPT), ("solana", GONE))
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
    for wallet in (KEPT, GONE):
        stub.swaps.add("solana", wallet, swap(f"of {wallet}", at, leg(FART, "1"), leg(WRAPPED, "1"), 180.0))


def assert_only_the_other_is_there(operator: Operator) -> None:
    """Assert that the other wallet's trade was imported, and that the removed wallet has no row."""
    assert {key[1] for key in operator.ledger()} == {KEPT}
    assert [row["address"] for row in operator.fetch("SELECT address FROM wallets")] == [KEPT]
    synced = operator.fetch("SELECT failure FROM sync_wallets")
    assert synced == [{"failure": None}]
    with connect(operator.url) as connection:
        assert orphans(connection) == {}
        assert set(rebuild_ledger(connection).values()) == {0}


@pytest.mark.parametrize("when_asked_for", ["moralis", GONE])
def test_one_removed_while_wallets_are_read_is_a_failure_of_its_own(
    stub: Stub, operator: Operator, when_asked_for: str
) -> None:
    removals = iter([REMOVAL])

    def remove_once() -> None:
        for row in removals:
            assert Importer(operator.url).remove_wallets([row]).wallets == 1

    stub.scenarios[when_asked_for] = remove_once
    outcome = operator.sync(SYNC_THREADS="1")
    assert outcome.status == 3
    assert outcome.only["failures"] == {"removed": 1}
    assert (outcome.only["synced"], outcome.only["changed"], outcome.only["left_out"]) == (1, 1, 0)
    assert_only_the_other_is_there(operator)
    assert operator.sync().status == 0


def states(operator: Operator) -> list[str]:
    """Return the addresses of the wallets with a sync state."""
    rows = operator.fetch("SELECT address FROM sync_wallets LEFT JOIN wallets USING (wallet_id)")
    return [row["address"] for row in rows]


def test_one_removed_while_its_reading_fails_gets_no_state(stub: Stub, operator: Operator) -> None:
    def remove() -> Response | None:
        Importer(operator.url).remove_wallets([REMOVAL])
        return faults.status(400)()

    stub.scenarios[GONE] = remove
    operator.sync()
    assert states(operator) == [KEPT]
    del stub.scenarios[GONE]
    assert (operator.sync().status, states(operator)) == (0, [KEPT])


def test_one_removed_while_its_state_is_saved_gets_none(stub: Stub, operator: Operator) -> None:
    removing = threading.Event()

    def remove() -> None:
        with (
            connect(operator.url) as connection,
            connect(operator.url) as watcher,
            connection.transaction(),
        ):
            connection.execute("DELETE FROM wallets WHERE address = %s", [GONE])
            removing.set()
            # Until the sync's statement, which has read the wallet, waits for this transaction.
            eventually(lambda: somebody_waits(watcher))

    thread = threading.Thread(target=remove)

    def answer() -> Response | None:
        if not thread.is_alive():
            thread.start()
            removing.wait(10)
        return faults.status(400)()

    stub.scenarios[GONE] = answer
    done = operator.sync()
    thread.join()
    assert (done.only["synced"], done.only["failures"]) == (1, {"rejected": 1})
    assert states(operator) == [KEPT]
