"""Feeds are followed while imports and removals change the ledger at once, and are killed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.contended import Contended
from tests.ledger.follower import Follower
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, BEN, GROUP, WALLETS, trade_row
from tests.waiting import eventually, somebody_waits
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key
from wallet_api.settings import Settings


def test_followers_end_with_the_trades_of_a_ledger_that_many_change_at_once(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    key = create_key(connection, "follower", rate="1000000/minute")
    own = replace(settings, answer_ttl_seconds=0)
    contended = Contended(str(settings.database_url), [make_app(own), make_app(own)], key)
    contended.run(seconds=8)
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
    with connect(str(settings.database_url)) as holder, ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            # The import has its numbers and its trades when it adds to the sums of the wallet.
            holder.execute(
                "SELECT FROM lifetimes WHERE wallet_id = (SELECT wallet_id FROM wallets WHERE address = %s)"
                " FOR UPDATE",
                [ANN],
            )
            slow = pool.submit(importer.trades, [trade_row(ANN, "slow", start + timedelta(minutes=1))])
            assert eventually(lambda: somebody_waits(connection), 30)
            importer.trades([trade_row(BEN, "quick", start)])
            assert [row["tx_signature"] for row in follower.read()] == ["quick"]
        slow.result()
    assert [row["tx_signature"] for row in follower.read()] == ["slow"]
