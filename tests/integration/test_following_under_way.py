"""Feeds are followed while imports and removals change the ledger at once, and are killed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.contended import Contended
from tests.ledger.contents import orphans
from tests.ledger.follower import Follower
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, BEN, GROUP, WALLETS, trade_row
from tests.lib.backups import done
from tests.lib.waiting import eventually, waiting
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, connect
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.settings import Settings


def test_a_ledger_that_many_change_at_once_is_right_and_followers_end_with_its_trades(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    key = create_key(connection, "follower", rate="1000000/minute")
    own = replace(settings, answer_ttl_seconds=0)
    contended = Contended(str(settings.database_url), [make_app(own), make_app(own)], key)
    contended.run(seconds=8)
    # The fixture's connection is killed with the others.
    with connect(str(settings.database_url)) as after:
        assert orphans(after) == {}
        assert set(rebuild_ledger(after).values()) == {0}
    done = contended.done
    # Else this test has seen nothing.
    assert min(done[name] for name in ("imports", "removals", "wallets removed", "pages", "kills")) >= 3, done
    assert done["changes"] > 100, done


def test_a_change_is_not_skipped_that_is_committed_after_a_later_one_was_read(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    importer = Importer(str(settings.database_url))
    importer.wallets(WALLETS)
    start = datetime.now(UTC) - timedelta(hours=1)
    importer.trades([trade_row(ANN, "first", start)])
    follower = Follower(Caller.new(make_app(settings).test_client(), connection), **GROUP)
    follower.read()
    with connect(str(settings.database_url)) as holder, ThreadPoolExecutor(2) as pool:
        with holder.transaction():
            # The import has its numbers and its trades when it adds to the sums of the wallet.
            wallet = holder.execute("SELECT wallet_id FROM wallets WHERE address = %s", [ANN]).fetchone()
            assert wallet is not None
            holder.execute("SELECT FROM lifetimes WHERE wallet_id = %s FOR UPDATE", [wallet["wallet_id"]])
            slow = pool.submit(importer.trades, [trade_row(ANN, "slow", start + timedelta(minutes=1))])
            assert eventually(lambda: waiting(connection) == 1)
            quick = pool.submit(importer.trades, [trade_row(BEN, "quick", start)])
            assert eventually(lambda: quick.done() or waiting(connection) == 2)
            read = [row["tx_signature"] for row in follower.read()]
            # Citus runs one import after the other: it locks all shards of trades for its DELETE.
            assert read == ([] if connection.is_sharded else ["quick"])
        slow.result()
        quick.result()
    read += [row["tx_signature"] for row in follower.read()]
    assert read == (["slow", "quick"] if connection.is_sharded else ["quick", "slow"])


def test_a_restored_ledger_is_followed_from_what_was_read_before_the_backup_alone(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    connection: Connection,
    empty_database_url: str,
    tmp_path: Path,
) -> None:
    importer, start = Importer(str(settings.database_url)), datetime.now(UTC) - timedelta(hours=1)
    importer.wallets(WALLETS)
    importer.trades([trade_row(ANN, "before", start)])
    caller = Caller.new(make_app(settings).test_client(), connection)
    followers = [Follower(caller, **GROUP) for _ in range(2)]
    for follower in followers:
        follower.read()
    earlier, later = followers
    # The backup has it without a place.
    importer.trades([trade_row(BEN, "under-way", start)])
    connection.execute("UPDATE arrivals SET place = NULL, batch_id = NULL, arrived_at = NULL WHERE place = 2")
    done("backup", tmp_path / "ledger.dump", settings=settings)
    assert eventually(lambda: bool(later.read()))
    assert [row["tx_signature"] for row in later.changes] == ["before", "under-way"]
    restored = replace(settings, database_url=empty_database_url)
    done("restore", tmp_path / "ledger.dump", settings=restored)
    Importer(empty_database_url).trades([trade_row(ANN, "after", start)])
    there = replace(caller, client=make_app(restored).test_client())
    error = there.refused("/transactions/latest", **GROUP, after=later.after)
    assert error["reason"] == "cursor_unknown"
    assert [row["tx_signature"] for row in earlier.resumed(there).read()] == ["under-way", "after"]
