"""Pages of a wallet and leaderboards on a ledger of some thousand trades equal a naive reading of it."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from tests.ledger import in_process, random_trades
from tests.ledger.mints import mint_of
from tests.naive import Ledger
from wallet_api.database import Connection
from wallet_api.queries.token_price import DEFAULT_RULE

NOW = datetime.now(UTC).replace(microsecond=0)
DAYS = 70
GROUPS = [("solana", type) for type in random_trades.TYPES]
MIDNIGHT = NOW.replace(hour=0, minute=0, second=0)
MOMENTS = (NOW, NOW - timedelta(days=1, hours=5, seconds=7), MIDNIGHT)


@pytest.fixture
def ledger(database_url: str) -> Ledger:
    """The rows that the database of the test contains."""
    wallets, prices = random_trades.wallets(8), random_trades.prices(NOW, DAYS)
    # Some trades have no price near them.
    prices = prices[: len(prices) // 2]
    trades = random_trades.trades(2_500, len(wallets), NOW, DAYS)
    for row in trades[::10]:
        at = datetime.fromisoformat(row["created_at"])
        row["created_at"] = at.replace(hour=0, minute=0, second=0, microsecond=0).isoformat()
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


def test_trackers_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now in MOMENTS:
        for wallet in ledger.wallets:
            for period in in_process.PERIODS:
                found = in_process.tracker(connection, now, *wallet, period)
                assert found == ledger.tracker(now, *wallet, period)


def test_leaderboards_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now, group, period in product(MOMENTS, GROUPS, in_process.PERIODS):
        assert in_process.leaderboard(connection, now, *group, period) == ledger.leaderboard(
            now, *group, period
        )


def test_tokens_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now, type in product(MOMENTS, (None, *random_trades.TYPES)):
        for mint in map(mint_of, ("mint-0", "mint-7", "mint-30")):
            token = (now, "solana", mint, type)
            assert in_process.token_stats(connection, *token, DEFAULT_RULE) == ledger.token_stats(*token)
            assert in_process.token_holders(connection, *token) == ledger.token_holders(*token)


def test_most_traded_tokens_are_those_of_the_rows(ledger: Ledger, connection: Connection) -> None:
    for now, group, period in product(MOMENTS, GROUPS, in_process.PERIODS):
        assert in_process.analytics(connection, now, *group, period) == ledger.analytics(now, *group, period)


def test_figures_of_a_tracker_are_those_of_the_leaderboard(ledger: Ledger, connection: Connection) -> None:
    compared = 0
    for now in MOMENTS:
        for period, (blockchain, type) in product(in_process.PERIODS, GROUPS):
            for entry in in_process.leaderboard(connection, now, blockchain, type, period):
                found = in_process.tracker(connection, now, blockchain, entry["wallet"], period)
                stats = entry["period_stats"]
                for name, value in stats.items():
                    key = name.replace("total_volume", "volume")
                    assert found["period_stats"].pop(key) == value
                # Nor has the tracker what the leaderboard leaves out.
                assert not {"realized_pnl_usd", "volume_usd", "avg_hold_time_minutes"} & set(
                    found["period_stats"]
                )
                distribution = entry["period_win_rate_distribution"]
                assert found["period_win_rate_distribution"] == distribution
                assert found["period_stats"]["win_rate"] == distribution["win_rate_percentage"]
                assert found["period_stats"]["win_count"] == distribution["win_count"]
                compared += 1
    assert compared > 20
