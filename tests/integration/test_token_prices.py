"""Prices of tokens: which trade makes them, after whatever has happened to the ledger."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import in_process, random_trades
from tests.ledger.contents import contents
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row
from tests.waiting import eventually
from wallet_api.database import Connection, connect
from wallet_api.ledger import merge
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.queries.token_price import PriceRule

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
WALLETS = random_trades.wallets(6)
FIRST, SECOND = (wallet["wallet_address"] for wallet in WALLETS[:2])
MINUTE = timedelta(minutes=1)


def trade(signature: str, minutes: float, value: str, **fields: Any) -> Row:
    """A buy of one token, so many minutes ago."""
    return trade_row(FIRST, signature, NOW - minutes * MINUTE, value=value, **fields)


def sol(usd: str, minutes: float) -> list[Row]:
    """A price of SOL, so many minutes ago."""
    return [{"currency": "SOL", "usd": usd, "priced_at": (NOW - minutes * MINUTE).isoformat()}]


@pytest.fixture
def importer(database_url: str) -> in_process.Importer:
    own = in_process.Importer(database_url)
    own.wallets(WALLETS)
    return own


@pytest.fixture
def price(connection: Connection) -> Callable[..., Decimal | None]:
    """The price of the token, now or at another moment, by the usual rule or another one."""

    def found(now: datetime = NOW, **rule: Any) -> Decimal | None:
        block = in_process.token(connection, now, "solana", mint_of("mint"), PriceRule(**rule))
        own: Decimal | None = block and block["price"]
        return own

    return found


def test_the_newest_trade_of_any_wallet_makes_the_price(
    importer: in_process.Importer, price: Callable[..., Decimal | None], connection: Connection
) -> None:
    assert price() is None
    importer.trades([trade("b", 3, "5"), trade("a", 5, "7", wallet_address=SECOND)])
    assert price() == 5
    importer.trades([trade("c", 2, "9", wallet_address=SECOND, token_amount="4")])
    assert price() == Decimal("2.25")
    # At the same moment a sell is later than a buy, whatever the signature.
    importer.trades([trade("a", 2, "8", transaction_type="sell"), trade("z", 2, "3")])
    assert price() == 8
    importer.trades([trade("late", 4, "6")])
    assert price() == 8
    importer.trades([trade("a", 2, "4", transaction_type="sell")])
    assert price() == 4
    importer.remove_trades([trade("a", 2, "4", transaction_type="sell")])
    assert price() == 3
    importer.remove_wallets(WALLETS[:1])
    assert price() == Decimal("2.25")
    importer.remove_wallets(WALLETS[1:2])
    assert price() is None
    assert contents(connection, NOW)["token_prices"] == {}


def test_a_trade_ahead_of_the_clock_makes_no_price_before_its_time(
    importer: in_process.Importer, price: Callable[..., Decimal | None]
) -> None:
    importer.trades([trade("a", 1, "5"), trade("b", -2, "7")])
    assert (price(), price(NOW + 2 * MINUTE)) == (5, 7)


def test_what_the_other_side_moved_makes_the_price(
    importer: in_process.Importer, price: Callable[..., Decimal | None], connection: Connection
) -> None:
    # The rest of the value were tips and fees, of a sell taken off the proceeds.
    importer.trades([trade("a", 5, "1.25", exchanged_value="1")])
    assert price() == 1
    importer.trades([trade("b", 4, "0.5", exchanged_value="0.75", transaction_type="sell")])
    assert price() == Decimal("0.75")
    # A correction of it alone changes the price, and nothing that was paid.
    importer.trades([trade("b", 4, "0.5", exchanged_value="0.8", transaction_type="sell")])
    assert price() == Decimal("0.8")
    importer.trades([trade("b", 4, "0.5", transaction_type="sell")])
    assert price() == Decimal("0.8")
    importer.trades([trade("b", 4, "0.5", exchanged_value=None, transaction_type="sell")])
    assert price() == Decimal("0.5")
    (position,) = connection.execute("SELECT invested, sold FROM positions").fetchall()
    assert position == {"invested": Decimal("1.25"), "sold": Decimal("0.5")}
    importer.trades([trade("ahead", -2, "2", exchanged_value="1.5")])
    # The newest is ahead of the clock: what the trades before it exchanged is searched.
    importer.trades([trade("b", 4, "0.5", exchanged_value="0.7", transaction_type="sell")])
    assert price() == Decimal("0.7")


def test_dust_makes_no_price_and_the_smallest_value_may_change_at_any_time(
    importer: in_process.Importer, price: Callable[..., Decimal | None]
) -> None:
    importer.trades(
        [
            trade("a", 5, "3", value_usd="300"),
            trade("b", 4, "2", value_usd="1"),
            trade("c", 3, "8", value_usd="0.99"),
            trade("d", 2, "0", value_usd="50"),
        ]
    )
    assert price() == 2
    assert price(min_value_usd=Decimal("1.01")) == 3
    assert price(min_value_usd=Decimal("0.99")) == price(min_value_usd=Decimal(0)) == 8
    assert price(min_value_usd=Decimal(301)) is None
    # The trade that decides is too old, or all of them are.
    assert price(max_age_seconds=240) == 2
    assert price(max_age_seconds=239) is None
    assert price(NOW + timedelta(days=1)) is None


def test_a_price_is_searched_for_in_all_of_the_time_that_counts(
    importer: in_process.Importer, price: Callable[..., Decimal | None]
) -> None:
    importer.trades(
        [
            trade("a", 180, "3", value_usd="300"),
            trade("b", 180, "9", value_usd="0.5"),
            trade("c", 5, "8", value_usd="0.5"),
        ]
    )
    # "b" is of the same moment as "a" and later in the order, but too small as well.
    assert price() == 3
    assert price(max_age_seconds=10_799) is None
    importer.trades([trade("d", 60, "5", value_usd="50"), trade("e", 9, "7", value_usd="30")])
    assert price() == 7
    assert price(min_value_usd=Decimal(40)) == 5


def test_a_trade_without_dollars_counts_with_the_latest_native_price(
    importer: in_process.Importer, price: Callable[..., Decimal | None]
) -> None:
    importer.trades([trade("a", 200, "3"), trade("b", 150, "0.5"), trade("c", 140, "0.001")])
    # Without a native price any trade will do.
    assert price() == Decimal("0.001")
    importer.prices(sol("2", 10))
    assert price() == Decimal("0.5")
    importer.prices(sol("1.9", 5))
    assert price() == 3
    # The dollars of its own hour make the trade large enough for good.
    importer.prices(sol("1000", 141))
    assert price() == Decimal("0.001")
    assert price(NOW, min_value_usd=Decimal("1.01")) == Decimal("0.5")


def test_imports_of_other_wallets_in_the_same_tokens_keep_the_newest_trade(
    database_url: str, connection: Connection
) -> None:
    importer = in_process.Importer(database_url, batch_rows=50)
    importer.wallets(WALLETS)
    rows = random_trades.trades(2_000, len(WALLETS), NOW, 10)
    wallets = [{wallet["wallet_address"] for wallet in WALLETS[start::2]} for start in (0, 1)]
    queues = [[row for row in rows if row["wallet_address"] in own] for own in wallets]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(importer.trades, queue) for queue in queues]:
            done.result()
    assert rebuild_ledger(connection)["token_prices"] == 0


def test_an_import_waits_for_one_that_keeps_prices_and_sees_its_trades(
    database_url: str, importer: in_process.Importer, price: Callable[..., Decimal | None]
) -> None:
    importer.trades([trade("a", 9, "1"), trade("a", 9, "1", wallet_address=SECOND)])
    with connect(database_url) as holder, ThreadPoolExecutor(2) as pool:
        with holder.transaction():
            merge.lock_prices(holder)
            # Both have their trades, and neither can commit.
            imports = [
                pool.submit(importer.trades, [trade("b", 2, "7", wallet_address=SECOND)]),
                pool.submit(importer.trades, [trade("c", 3, "5")]),
            ]
            assert eventually(lambda: _waiting(holder) == len(imports), 30)
        for done in imports:
            done.result()
    assert price() == 7


def _waiting(connection: Connection) -> int:
    row = connection.execute(
        "SELECT count(*) AS n FROM pg_locks JOIN pg_database ON pg_database.oid = database"
        " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
    ).fetchone()
    assert row is not None
    count: int = row["n"]
    return count
