"""Imports beside requests, beside one another and beside removals: all figures are right.

That they may be killed is in test_following_under_way.py.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import in_process, random_trades
from tests.ledger.contents import orphans
from tests.ledger.in_process import exact
from tests.ledger.rows import trade_row
from tests.lib.waiting import eventually, waiting
from wallet_api.api.schemas.history import HistorySchema
from wallet_api.database import Connection, connect
from wallet_api.ledger import merge
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.history import wallet_history
from wallet_api.queries.token_block import read_token
from wallet_api.queries.token_price import DEFAULT_RULE

Row = dict[str, Any]

DAYS = 45
HALF_A_UNIT = Decimal("0.0000000005")


def test_every_history_during_an_import_is_of_one_moment(database_url: str, connection: Connection) -> None:
    now = datetime.now(UTC)
    wallets = random_trades.wallets(6)
    importer = in_process.Importer(database_url, batch_rows=400)
    importer.wallets(wallets)
    importer.prices(random_trades.prices(now, DAYS))
    rows = random_trades.trades(8_000, 6, now, DAYS, late=0.001)
    seen: set[int] = set()
    answers = 0
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(importer.trades, rows)
        while not importing.done():
            wallet = wallets[answers % 2]
            place = ("solana", wallet["wallet_address"])
            record = exact(
                HistorySchema(),
                wallet_history(connection, find_wallet(connection, *place), now, {"limit": 5}),
            )
            assert_whole(record)
            seen.add(record["lifetime_stats"]["total_tx_count"])
            answers += 1
        summary = importing.result()
        assert summary.landed + summary.rejected == len(rows)
    # Else this test has seen nothing of the import.
    assert len(seen) > 10
    assert answers >= len(seen)


def assert_whole(record: Row) -> None:
    """The lifetime figures of a history are the sums of its token_overview, and its trades belong to it."""
    stats, overview = record["lifetime_stats"], record["token_overview"]

    def total(name: str) -> Any:
        return sum(token[name] for token in overview)

    assert stats["buy"] == total("invested")
    assert stats["sell"] == total("sold")
    assert stats["buy_txn"] == total("buy_txn")
    assert stats["sell_txn"] == total("sell_txn")
    assert stats["still_holding_count"] == total("still_holding")
    assert stats["active_tokens_count"] == len(overview)
    # Each token's profit is rounded by itself.
    assert abs(stats["realized_pnl"] - total("realized_pnl")) <= HALF_A_UNIT * (len(overview) + 1)
    assert sum(record["win_rate_distribution"].values()) == stats["total_sold"]
    assert min(5, stats["total_tx_count"]) == len(record["trades"])
    if overview:
        assert record["trades"][0]["created_at"] == overview[0]["last_seen"]


def test_an_import_waits_for_one_that_stores_prices_and_sees_its_trades(
    database_url: str, connection: Connection
) -> None:
    importer, now = in_process.Importer(database_url), datetime.now(UTC)
    wallets = random_trades.wallets(2)
    importer.wallets(wallets)
    first, second = (wallet["wallet_address"] for wallet in wallets)
    importer.trades([trade_row(address, "a", now - timedelta(minutes=9)) for address in (first, second)])
    newest = trade_row(second, "b", now - timedelta(minutes=2), value="7")
    with ThreadPoolExecutor(2) as pool:
        with connect(database_url) as holder, holder.transaction():
            merge.lock_prices(holder)
            # Both have stored their trades, and neither can commit.
            imports = [
                pool.submit(importer.trades, [row])
                for row in (newest, trade_row(first, "c", now - timedelta(minutes=3), value="5"))
            ]
            assert eventually(lambda: waiting(connection) == len(imports))
        for done in imports:
            done.result()
    _, token = read_token(connection, now, DEFAULT_RULE, "solana", newest["mint"])
    assert token is not None
    assert token["price"] == "7"


def test_an_import_whose_wallet_is_removed_meanwhile_leaves_no_orphan(
    database_url: str, connection: Connection
) -> None:
    wallets, rows = random_trades.wallets(6), random_trades.trades(600, 6, datetime.now(UTC), 3)
    importer = in_process.Importer(database_url)
    importer.wallets(wallets)
    importer.trades(rows)
    ids = connection.execute(
        "SELECT wallet_id FROM wallets WHERE address = %s", [wallets[0]["wallet_address"]]
    )
    with ThreadPoolExecutor(2) as pool, connect(database_url) as holder:
        # Both wait for the lock of the first wallet, the removal first.
        with holder.transaction():
            merge.lock_wallets(holder, [row["wallet_id"] for row in ids])
            removing = pool.submit(importer.remove_wallets, wallets[:1])
            assert eventually(lambda: waiting(connection) == 1)
            importing = pool.submit(importer.trades, [row | {"value": "9"} for row in rows])
            assert eventually(lambda: waiting(connection) == 2)
        assert removing.result().wallets == 1
        with pytest.raises(merge.WalletRemoved, match="was removed while the file was imported"):
            importing.result()
    assert orphans(connection) == {}
    assert set(rebuild_ledger(connection).values()) == {0}
