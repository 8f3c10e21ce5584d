"""The fill after an upgrade: the tables are as if all trades had been imported after it."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from tests.ledger import in_process, random_trades
from tests.ledger.contents import contents
from tests.ledger.unfilled import unfill, unfill_positions, unfill_prices
from tests.waiting import eventually
from wallet_api.cli import cli
from wallet_api.database import Connection, connect
from wallet_api.ledger import merge
from wallet_api.ledger.fill import fill_ledger, is_filled
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.queries.filled import NotFilled, require_filled

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
DAYS = 50
WALLETS = random_trades.wallets(12)
PRICES = random_trades.prices(NOW, DAYS)
TRADES = random_trades.trades(3_000, len(WALLETS), NOW, DAYS)
IS_FILLED = "SELECT NOT EXISTS (SELECT FROM pending_fills) AS is_filled"


def import_all(database_url: str, trades: list[Row]) -> in_process.Importer:
    importer = in_process.Importer(database_url, batch_rows=500)
    importer.wallets(WALLETS)
    importer.prices(PRICES)
    importer.trades(trades)
    return importer


def assert_complete(connection: Connection) -> None:
    """All is filled, by the constraint and the index as well."""
    assert is_filled(connection)
    row = connection.execute(
        "SELECT (SELECT convalidated FROM pg_constraint WHERE conname = 'trades_have_holding') AS validated,"
        " (SELECT convalidated FROM pg_constraint WHERE conname = 'positions_have_totals') AS totalled,"
        " (SELECT indisvalid FROM pg_index WHERE indexrelid = 'positions_by_token'::regclass) AS indexed,"
        " (SELECT indisvalid FROM pg_index WHERE indexrelid = 'trades_by_token'::regclass) AS indexed_trades"
    ).fetchone()
    assert row == {"validated": True, "totalled": True, "indexed": True, "indexed_trades": True}
    assert set(rebuild_ledger(connection).values()) == {0}


def test_a_new_ledger_is_filled_from_the_start(database_url: str, connection: Connection) -> None:
    assert_complete(connection)
    import_all(database_url, TRADES[:500])
    assert_complete(connection)
    assert fill_ledger(connection) == {}


def test_a_fill_gives_what_an_import_would_have_given(database_url: str, connection: Connection) -> None:
    import_all(database_url, TRADES)
    imported = contents(connection, NOW)
    unfill(connection)
    assert not is_filled(connection)
    seen: list[tuple[int, int]] = []
    filled = fill_ledger(connection, lambda done, of: seen.append((done, of)))
    assert filled == {"wallets": len(WALLETS), "tokens": len(imported["token_prices"])}
    tokens = len({trade["mint"] for trade in TRADES})
    assert seen == [
        *[(done, len(WALLETS)) for done in range(len(WALLETS) + 1)],
        *[(0, tokens), (tokens, tokens)],
        # The wallets that the first fill has left out.
        (0, 0),
    ]
    assert contents(connection, NOW) == imported
    assert_complete(connection)


def test_a_ledger_that_has_all_but_prices_is_filled_with_them_alone(
    database_url: str, connection: Connection
) -> None:
    half = len(TRADES) // 2
    importer = import_all(database_url, TRADES[:half])
    unfill_prices(connection)
    # The index is what an import finds the newest trades by.
    importer.trades(TRADES[half:])
    importer.remove_trades(TRADES[::50])
    assert contents(connection, NOW)["token_prices"] == {}
    assert set(rebuild_ledger(connection).values()) == {0}
    assert fill_ledger(connection) == {"tokens": len(contents(connection, NOW)["token_prices"])}
    filled = contents(connection, NOW)
    assert_complete(connection)

    in_process.clear(connection)
    import_all(database_url, TRADES)
    importer.remove_trades(TRADES[::50])
    assert filled == contents(connection, NOW)


def test_a_ledger_that_has_all_but_the_totals_of_positions_is_filled_with_them_alone(
    database_url: str, connection: Connection
) -> None:
    half = len(TRADES) // 2
    importer = import_all(database_url, TRADES[:half])
    unfill_positions(connection)
    # An import completes the positions that it touches.
    importer.trades(TRADES[half : half + 300])
    importer.remove_trades(TRADES[:half:50])
    assert fill_ledger(connection)["wallets"] <= len(WALLETS)
    importer.trades(TRADES[half + 300 :])
    filled = contents(connection, NOW)
    assert_complete(connection)

    in_process.clear(connection)
    import_all(database_url, TRADES)
    importer.remove_trades(TRADES[:half:50])
    assert filled == contents(connection, NOW)


def test_imports_corrections_and_removals_before_the_fill_are_in_it(
    database_url: str, connection: Connection
) -> None:
    half = len(TRADES) // 2
    importer = import_all(database_url, TRADES[:half])
    unfill(connection)
    importer.trades(TRADES[half:])
    importer.wallets([WALLETS[0] | {"type": "smart"}])
    importer.remove_trades(TRADES[::50])
    importer.remove_wallets([WALLETS[3]])
    assert not is_filled(connection)
    fill_ledger(connection)
    filled = contents(connection, NOW)
    assert_complete(connection)

    in_process.clear(connection)
    import_all(database_url, TRADES)
    importer.wallets([WALLETS[0] | {"type": "smart"}])
    importer.remove_trades(TRADES[::50])
    importer.remove_wallets([WALLETS[3]])
    assert filled == contents(connection, NOW)


def test_imports_go_on_beside_a_fill(database_url: str, connection: Connection) -> None:
    half = len(TRADES) // 2
    importer = import_all(database_url, TRADES[:half])
    unfill(connection)
    with ThreadPoolExecutor(2) as pool, connect(database_url) as filling:
        fill = pool.submit(fill_ledger, filling)
        imported = pool.submit(importer.trades, TRADES[half:])
        assert fill.result()["wallets"] == len(WALLETS)
        imported.result()
    assert_complete(connection)


def test_a_killed_fill_continues_where_it_was(database_url: str, connection: Connection) -> None:
    import_all(database_url, TRADES)
    imported = contents(connection, NOW)
    unfill(connection)
    # The build would wait for the transaction below.
    connection.execute("CREATE INDEX positions_by_token ON positions (token_id)")
    row = connection.execute("SELECT min(wallet_id) + 4 AS wallet_id FROM wallets").fetchone()
    assert row is not None
    with connect(database_url) as holder, holder.transaction():
        merge.lock_wallet(holder, row["wallet_id"])
        killed = subprocess.Popen(
            [sys.executable, "-m", "wallet_api", "migrate"], env=os.environ | {"DATABASE_URL": database_url}
        )
        assert eventually(lambda: _unfilled(connection) == len(WALLETS) - 4, 60)
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
    assert not is_filled(connection)
    # The server notices the end of the killed session only when it has the lock.
    again = CliRunner().invoke(cli, ["migrate"], env={"DATABASE_URL": database_url})
    assert again.exit_code == 0, again.output
    tokens = len(imported["token_prices"])
    assert again.stdout == f"Filled what is new for {len(WALLETS) - 4} wallets and {tokens} tokens.\n"
    assert contents(connection, NOW) == imported
    assert_complete(connection)
    last = CliRunner().invoke(cli, ["migrate"], env={"DATABASE_URL": database_url})
    assert last.stdout == "The tables are up to date.\n"


def test_two_fills_at_once_end_as_one(database_url: str, connection: Connection) -> None:
    import_all(database_url, TRADES)
    imported = contents(connection, NOW)
    unfill(connection)
    with ThreadPoolExecutor(2) as pool, connect(database_url) as first, connect(database_url) as second:
        fills = [pool.submit(fill_ledger, one) for one in (first, second)]
        assert sum(fill.result().get("wallets", 0) for fill in fills) == len(WALLETS)
    assert contents(connection, NOW) == imported
    assert_complete(connection)


def test_an_index_that_was_interrupted_is_built_again(database_url: str, connection: Connection) -> None:
    import_all(database_url, TRADES[:500])
    unfill(connection)
    connection.execute("CREATE INDEX positions_by_token ON positions (token_id)")
    connection.execute("CREATE INDEX trades_by_token ON trades (token_id, created_at)")
    connection.execute(
        "UPDATE pg_index SET indisvalid = FALSE"
        " WHERE indexrelid IN ('positions_by_token'::regclass, 'trades_by_token'::regclass)"
    )
    fill_ledger(connection)
    assert_complete(connection)


def test_an_import_of_an_earlier_version_is_refused(database_url: str, connection: Connection) -> None:
    import_all(database_url, TRADES[:10])
    with pytest.raises(psycopg.errors.CheckViolation, match="trades_have_holding"):
        connection.execute(
            "INSERT INTO trades (wallet_id, token_id, created_at, event_index, is_sell, usd_derived,"
            " tx_signature, token_amount, value)"
            " SELECT wallet_id, token_id, created_at, 7, is_sell, FALSE, tx_signature, token_amount, value"
            " FROM trades"
        )

    with pytest.raises(psycopg.errors.CheckViolation, match="positions_have_totals"):
        connection.execute(
            "INSERT INTO positions (wallet_id, token_id, mint, quantity, cost, acquired_at, peak, buy_txn,"
            " sell_txn, covered_txn, invested, sold, realized, realized_cost, first_seen, last_seen)"
            " SELECT wallet_id, token_id, mint, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, first_seen, last_seen"
            " FROM positions"
            " ON CONFLICT (wallet_id, token_id) DO UPDATE SET quantity = excluded.quantity"
        )


def test_a_question_of_an_unfilled_ledger_is_refused_for_a_while(
    database_url: str, connection: Connection
) -> None:
    import_all(database_url, TRADES[:10])
    row = connection.execute(IS_FILLED).fetchone()
    assert row is not None
    require_filled(row)
    unfill(connection)
    row = connection.execute(IS_FILLED).fetchone()
    assert row is not None
    with pytest.raises(NotFilled) as refused:
        require_filled(row)
    assert refused.value.status == 503
    assert refused.value.retry_after_seconds == 30
    fill_ledger(connection)
    row = connection.execute(IS_FILLED).fetchone()
    assert row is not None
    require_filled(row)


def _unfilled(connection: Connection) -> int:
    row = connection.execute("SELECT count(*) AS n FROM lifetimes WHERE last_seen IS NULL").fetchone()
    assert row is not None
    count: int = row["n"]
    return count
