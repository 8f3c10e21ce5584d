"""GET /v1/wallets/tracker: lists are cut at a thousand, and whole days are not read trade by trade."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, trade_row
from wallet_api.database import Connection, Database
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.tracker import track_wallet
from wallet_api.settings import Settings

# How many trades a transaction has read.
READ = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'trades'"


def test_lists_are_cut_at_a_thousand_with_a_warning(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    mints = [mint_of(f"mint {number:04}") for number in range(1002)]
    importer.trades(
        [
            *(
                trade_row(ANN, f"s{number:04}", now - timedelta(seconds=5000 - number), mint=mint)
                for number, mint in enumerate(mints)
            ),
            trade_row(ANN, "sold", now - timedelta(seconds=10), mint=mints[1001], transaction_type="sell"),
        ]
    )
    data = caller.get("/wallets/tracker", blockchain="solana", address=ANN, period="6h")
    assert data["warnings"] == [
        "period_active_tokens.tokens has the newest 1000 of 1001.",
        "period_history_tokens has the newest 1000 of 1002.",
        "period_trades has the newest 1000 of 1003.",
    ]
    held, rows = data["period_active_tokens"]["tokens"], data["period_history_tokens"]
    assert [len(held), len(rows), len(data["period_trades"])] == [1000, 1000, 1000]
    assert (rows[0]["mint"], rows[-1]["mint"]) == (mints[1001], mints[2])
    assert (held[0]["mint"], held[-1]["mint"]) == (mints[1000], mints[1])
    assert held[:999] == rows[1:]
    assert data["period_stats"]["total_txn"] == 1003
    assert data["period_active_tokens"]["active_tokens_count"] == 1002


def test_lists_can_be_left_out(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", datetime.now(UTC) - timedelta(minutes=5))])
    whole = caller.get("/wallets/tracker", blockchain="solana", address=ANN)
    data = caller.get("/wallets/tracker", blockchain="solana", address=ANN, tokens="false", trades="false")
    lists = {"period_history_tokens", "period_trades"}
    active = whole["period_active_tokens"]
    del active["tokens"]
    assert data == {name: value for name, value in whole.items() if name not in lists}


def test_of_whole_days_no_trade_is_read(
    settings: Settings, connection: Connection, importer: Importer
) -> None:
    if connection.is_sharded:
        pytest.skip("the coordinator does not count what its workers read")
    now = datetime.now(UTC).replace(hour=0, minute=30, second=0, microsecond=0) - timedelta(days=1)
    importer.trades(
        [
            trade_row(ANN, f"s{tens}", now - timedelta(minutes=10 * tens), mint=mint_of(f"mint {tens % 50}"))
            for tens in range(31 * 24 * 6)
        ]
    )
    connection.execute("ANALYZE")
    wallet = find_wallet(connection, "solana", ANN)
    with closing(Database(settings)) as database, database.read() as reading:
        for period in ("7d", "30d"):
            with reading.transaction():
                given = {"period": period, "tokens": True, "trades": False}
                track_wallet(reading, wallet, now, given)
                read = reading.fetch_value(READ)
            # The parts beside whole days are a day together, read for sums, the chart and active hours.
            assert 0 < read <= 3 * 24 * 6, period
