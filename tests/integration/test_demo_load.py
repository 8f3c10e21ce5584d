"""A demo world loaded into a ledger."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wallet_api import demo
from wallet_api.database import Connection
from wallet_api.demo.world import World

NOW = datetime.now(UTC).replace(microsecond=0)
TRADES = "SELECT * FROM trades ORDER BY wallet_id, token_id, tx_signature, is_sell, event_index"


def small(now: datetime = NOW) -> World:
    return World(now, wallets=50, trades=5_000, days=6)


def rows(connection: Connection, query: Any) -> list[dict[str, Any]]:
    return connection.execute(query).fetchall()


def test_all_of_the_world_lands_and_progress_hears_of_it(database_url: str, connection: Connection) -> None:
    heard: list[tuple[int, int]] = []
    loaded = demo.load(database_url, small(), lambda done, of: heard.append((done, of)))
    assert loaded.wallets == 50
    assert loaded.trades == 5_000
    assert heard[-1] == (5_000, 5_000)
    assert rows(connection, "SELECT count(*) AS n FROM trades") == [{"n": 5_000}]
    assert rows(connection, "SELECT count(*) AS n FROM wallets") == [{"n": 50}]
    assert rows(connection, "SELECT count(*) AS n FROM native_prices") == [{"n": loaded.prices}]


def test_trades_without_usd_find_it_in_the_prices_save_in_the_gap(
    database_url: str, connection: Connection
) -> None:
    demo.load(database_url, small())
    [counts] = rows(
        connection,
        "SELECT count(*) FILTER (WHERE usd_derived) AS derived,"
        " count(*) FILTER (WHERE value_usd IS NULL) AS unknown FROM trades",
    )
    assert counts["derived"] > 300
    assert 0 < counts["unknown"] < 100


def test_loading_it_again_changes_nothing(database_url: str, connection: Connection) -> None:
    demo.load(database_url, small())
    before = rows(connection, TRADES)
    demo.load(database_url, small())
    assert rows(connection, TRADES) == before


def test_the_same_world_up_to_a_later_now_moves_the_trades(database_url: str, connection: Connection) -> None:
    demo.load(database_url, small(NOW - timedelta(days=1)))
    before = rows(connection, TRADES)
    demo.load(database_url, small())
    after = rows(connection, TRADES)
    assert [row["created_at"] for row in after] == [row["created_at"] + timedelta(days=1) for row in before]


def test_a_bad_row_is_never_passed_over(database_url: str) -> None:
    with pytest.raises(ValueError, match="ahead of now"):
        demo.load(database_url, small(NOW + timedelta(days=1)))
