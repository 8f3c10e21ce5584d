"""A wallet that is removed while a sync is under way: it fails alone, and leaves nothing behind."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.contents import orphans
from tests.ledger.in_process import Importer
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.sync.door import Operator, addresses
from tests.waiting import eventually
from wallet_api.database import connect
from wallet_api.ledger import merge
from wallet_api.ledger.identities import WalletIdentity
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.ledger.remove import remove_wallets, stage_wallets

SOL = "So11111111111111111111111111111111111111112"
FART = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
KEPT, GONE = addresses("solana", 2)
REMOVAL = {"blockchain": "solana", "wallet_address": GONE}
WAITING = """
SELECT count(*) AS n FROM pg_locks
 WHERE locktype = 'advisory' AND NOT granted
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """Two wallets with a trade each."""
    operator.track(("solana", KEPT), ("solana", GONE))
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
    for wallet in (KEPT, GONE):
        stub.swaps.add("solana", wallet, swap(f"of {wallet}", at, leg(FART, "1"), leg(SOL, "1"), 180.0))


def assert_only_the_other_is_there(operator: Operator) -> None:
    """The other wallet's trade has landed, and there is no row of the one that was removed."""
    assert {key[1] for key in operator.ledger()} == {KEPT}
    assert [row["address"] for row in operator.fetch("SELECT address FROM wallets")] == [KEPT]
    synced = operator.fetch("SELECT failure FROM sync_wallets")
    assert synced == [{"failure": None}]
    with connect(operator.url) as connection:
        assert orphans(connection) == {}
        assert set(rebuild_ledger(connection).values()) == {0}


def test_one_removed_while_wallets_are_read_is_a_failure_of_its_own(stub: Stub, operator: Operator) -> None:
    removals = iter([REMOVAL])

    def remove_at_first_request() -> None:
        for row in removals:
            assert Importer(operator.url).remove_wallets([row]).wallets == 1

    stub.scenarios["moralis"] = remove_at_first_request
    outcome = operator.sync(SYNC_THREADS="1")
    assert outcome.status == 3
    assert outcome.only["failures"] == {"removed": 1}
    assert (outcome.only["synced"], outcome.only["changed"], outcome.only["rejected"]) == (1, 1, 0)
    assert_only_the_other_is_there(operator)
    assert operator.sync().status == 0


def test_one_removed_while_its_trades_wait_for_their_lock_lands_none_of_them(operator: Operator) -> None:
    with connect(operator.url) as holder:
        stage_wallets(holder, ndjson_records([json.dumps(REMOVAL).encode()], WalletIdentity), print)
        with holder.transaction():
            merge.lock_all(holder)
            syncing = operator.start("trades", "--json")
            with connect(operator.url) as watcher:
                assert eventually(lambda: watcher.execute(WAITING).fetchone() == {"n": 1}, 60)
            assert remove_wallets(holder).wallets == 1
        output, _ = syncing.communicate(timeout=60)
    summary = json.loads(output)
    assert syncing.returncode == 3
    assert summary["failures"] == {"removed": 1}
    assert (summary["synced"], summary["changed"], summary["rejected"]) == (1, 1, 0)
    assert_only_the_other_is_there(operator)
