"""The synthetic world: repeatable, and valid."""

import hashlib
import os
import sys
from datetime import UTC, datetime, timedelta

import msgspec

from tests.lib.processes import run_program
from wallet_api.base.chains import CHAINS
from wallet_api.operate.demo.world import World

NOW = datetime(2026, 11, 20, 12, 34, 56, tzinfo=UTC)

_DIGEST = "from tests.unit.test_demo import digest; print(digest())"


def small(now: datetime = NOW, seed: int = 4) -> World:
    return World(now, wallets=20, trades=3000, days=3, seed=seed)


def digest() -> str:
    rows = [*small().wallet_rows(), *small().price_rows(), *small().trade_rows()]
    return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    other = run_program(
        [sys.executable, "-c", _DIGEST],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == digest()
    wallets = {row.wallet_address for row in small().wallet_rows()}
    assert wallets.isdisjoint(row.wallet_address for row in small(seed=5).wallet_rows())


def test_a_later_world_has_the_same_rows_and_further_ones() -> None:
    early, late = list(small().trade_rows()), list(small(NOW + timedelta(hours=30)).trade_rows())
    assert len(early) == len(late) == 3000
    assert early[-1].created_at <= NOW
    further = list(small(NOW + timedelta(hours=30)).trade_rows(NOW))
    # Some are repeated, which an import does not change.
    assert late == [*early, *(row for row in further if row not in early)][-3000:]
    times = [row.created_at for row in late]
    assert times == sorted(times)


def test_each_group_has_wallets_of_valid_addresses() -> None:
    wallets = small().wallet_rows()
    assert all(CHAINS[row.blockchain].is_address(row.wallet_address) for row in wallets)
    groups = {(chain.name, type_) for chain in CHAINS.values() for type_ in chain.types}
    assert {(row.blockchain, row.type) for row in wallets} == groups
