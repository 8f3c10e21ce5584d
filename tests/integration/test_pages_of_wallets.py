"""The pages of a wallet on a ledger of some thousand trades equal a naive reading of its rows."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger import in_process, random_trades
from tests.naive import Ledger
from wallet_api.database import Connection

NOW = datetime.now(UTC).replace(microsecond=0)
DAYS = 70
MOMENTS = (NOW, NOW - timedelta(days=1, hours=5, seconds=7))


@pytest.fixture
def ledger(database_url: str) -> Ledger:
    """The rows that the database of the test contains."""
    wallets, prices = random_trades.wallets(8), random_trades.prices(NOW, DAYS)
    # Some trades have no price near them.
    prices = prices[: len(prices) // 2]
    trades = random_trades.trades(2_500, len(wallets), NOW, DAYS)
    importer, ledger = in_process.Importer(database_url), Ledger()
    for kind, rows in (("wallets", wallets), ("prices", prices), ("trades", trades)):
        getattr(importer, kind)(rows)
        getattr(ledger, f"add_{kind}")(rows)
    return ledger


def test_calendars_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now in MOMENTS:
        for wallet in ledger.wallets:
            assert in_process.calendar(connection, now, *wallet) == ledger.calendar(now, *wallet)


def test_connections_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now in MOMENTS:
        for wallet in ledger.wallets:
            expected = ledger.connections(now, *wallet)
            assert in_process.connections(connection, now, *wallet) == expected
            two = in_process.connections(connection, now, *wallet, limit=2)
            assert two == expected | {"connections": expected["connections"][:2]}
