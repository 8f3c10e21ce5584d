"""GET /v1/wallets/tracker: bounds of period and chart, cut lists, active hours, and caching."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row
from wallet_api.database import Connection
from wallet_api.settings import Settings

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
NOW = datetime.now(UTC).replace(microsecond=0)
MINUTE = timedelta(minutes=1)
WALLET = {"blockchain": "solana", "address": SOLANA}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for a wallet of Solana."""
    importer = Importer(database_url)
    importer.wallets(
        [
            {
                "blockchain": "solana",
                "type": "kol",
                "wallet_address": SOLANA,
                "name": "Sol",
                "copytrade_link": "https://copy.example/sol",
            }
        ]
    )
    return importer


def trade(signature: str, side: str, at: datetime, value: str = "1", **fields: Any) -> Row:
    """A trade of the wallet, of one token by default."""
    return trade_row(SOLANA, signature, at, transaction_type=side, value=value, **fields)


def test_a_wallet_that_never_traded_has_zeros_and_empty_lists(caller: Caller, importer: Importer) -> None:
    data = caller.get("/wallets/tracker", **WALLET)
    assert data["wallet"] == SOLANA
    assert data["profile"] == {
        "wallet_address": SOLANA,
        "name": "Sol",
        "image_url": "",
        "twitter": "",
        "telegram": "",
        "copytrade_link": "https://copy.example/sol",
        "type": "kol",
        "blockchain": "solana",
        "currency": "SOL",
        "active_hours": "",
    }
    stats = data["period_stats"]
    assert stats.pop("period") == "1d"
    assert len(stats) == 19
    assert set(stats.values()) == {0}
    assert set(data["period_win_rate_distribution"].values()) == {0}
    assert data["period_active_tokens"] == {
        "active_tokens_count": 0,
        "still_holding_count": 0,
        "avg_position_size": 0,
        "tokens": [],
    }
    for name in ("period_history_tokens", "period_realized_pnl_chart", "period_trades"):
        assert data[name] == []


def test_the_alias_and_the_default_period_give_the_same(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("a", "buy", NOW - timedelta(hours=3))])
    first = caller.get("/wallets/tracker", **WALLET)
    assert caller.get("/wallet/tracking", **WALLET, period="1d") == first
    assert caller.get("/wallets/tracker", **WALLET, period="") == first


def test_lists_are_cut_at_a_thousand_with_a_warning(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade(
                f"s{number:04}",
                "buy",
                NOW - timedelta(seconds=5000 - number),
                mint=mint_of(f"mint {number:04}"),
            )
            for number in range(1002)
        ]
        + [trade("sold", "sell", NOW - timedelta(seconds=10), mint=mint_of("mint 1001"))]
    )
    data = caller.get("/wallets/tracker", **WALLET, period="6h")
    assert data["warnings"] == [
        "period_active_tokens.tokens has the newest 1000 of 1001.",
        "period_history_tokens has the newest 1000 of 1002.",
        "period_trades has the newest 1000 of 1003.",
    ]
    held, rows = data["period_active_tokens"]["tokens"], data["period_history_tokens"]
    assert [len(held), len(rows), len(data["period_trades"])] == [1000, 1000, 1000]
    assert (rows[0]["mint"], rows[-1]["mint"]) == (mint_of("mint 1001"), mint_of("mint 0002"))
    assert (held[0]["mint"], held[-1]["mint"]) == (mint_of("mint 1000"), mint_of("mint 0001"))
    assert held[:999] == rows[1:]
    assert data["period_stats"]["total_txn"] == 1003
    assert data["period_active_tokens"]["active_tokens_count"] == 1002


def test_a_tracker_is_cached_as_long_as_a_leaderboard(
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    importer: Importer,
    connection: Connection,
) -> None:
    client = make_app(replace(settings, leaderboard_ttl_seconds=30.0)).test_client()
    caller = Caller.new(client, connection)
    first = caller.ask("/wallets/tracker", **WALLET)
    importer.trades([trade("a", "buy", NOW - MINUTE)])
    second = caller.ask("/wallets/tracker", **WALLET)
    assert (first["meta"]["cached"], second["meta"]["cached"]) == (False, True)
    assert second["data"] == first["data"]
    other = caller.ask("/wallets/tracker", **WALLET, period="7d")
    assert (other["meta"]["cached"], other["data"]["period_stats"]["buy_txn"]) == (False, 1)
    # Other operations are not.
    history = caller.ask("/wallets/history", **WALLET, type="kol")
    assert history["data"]["lifetime_stats"]["buy_txn"] == 1
