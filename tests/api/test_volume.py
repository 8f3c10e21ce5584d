"""GET /v1/transactions/volume: the window, its cap, dollar values, and the requested mint."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
GROUP = {"blockchain": "solana", "type": "kol"}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in, for a wallet of Solana and one of Ethereum."""
    importer = Importer(database_url)
    importer.wallets(
        [
            GROUP | {"wallet_address": SOLANA},
            {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        ]
    )
    return importer


def trade(signature: str, ago: timedelta, value: str, **fields: Any) -> Row:
    """A buy of the wallet of Solana."""
    return trade_row(SOLANA, signature, datetime.now(UTC) - ago, value=value, **fields)


def test_a_window_is_the_sum_of_its_parts_and_a_day_by_default(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade("a", timedelta(minutes=30), "1"),
            trade("b", timedelta(hours=2), "10"),
            trade("c", timedelta(hours=23), "100"),
            trade("d", timedelta(hours=25), "1000"),
        ]
    )
    windows: list[tuple[Row, int, int]] = [
        ({}, 86_400, 111),
        ({"hours": 24}, 86_400, 111),
        ({"hours": 1}, 3_600, 1),
        ({"minutes": 60, "seconds": 0}, 3_600, 1),
        ({"hours": 1, "minutes": 59, "seconds": 120}, 7_260, 11),
        ({"seconds": 1}, 1, 0),
        ({"hours": "", "minutes": 90}, 5_400, 1),
    ]
    for window, seconds, volume in windows:
        data = caller.get("/transactions/volume", **GROUP, **window)
        assert (data["time_window_seconds"], data["volume"]) == (seconds, volume)
        assert "mint" not in data


def test_a_window_over_a_day_is_capped_with_a_warning(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("a", timedelta(hours=23), "1"), trade("b", timedelta(hours=25), "10")])
    data = caller.get("/transactions/volume", **GROUP, hours=24, seconds=1)
    assert (data["time_window_seconds"], data["volume"]) == (86_400, 1)
    assert data["warnings"] == ["The window was capped from 86401 to 86400 seconds."]


def test_dollars_are_null_only_when_no_trade_has_any(caller: Caller, importer: Importer) -> None:
    def answer() -> Row:
        return caller.get("/transactions/volume", **GROUP, hours=1)

    assert (answer()["volume"], answer()["volume_usd"]) == (0, 0)
    importer.trades([trade("a", timedelta(minutes=5), "2")])
    assert (answer()["volume"], answer()["volume_usd"]) == (2, None)
    assert "warnings" not in answer()
    importer.trades([trade("b", timedelta(minutes=6), "3", value_usd="30")])
    assert (answer()["volume"], answer()["volume_usd"]) == (5, 30)
    assert [type(warning) for warning in answer()["warnings"]] == [str]
    # Too far from the first trade to be its price, but the latest there is.
    two_hours_ago = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    importer.prices([{"currency": "SOL", "usd": "100", "priced_at": two_hours_ago}])
    assert (answer()["volume"], answer()["volume_usd"]) == (5, 230)
    assert "warnings" not in answer()


def test_a_mint_is_echoed_in_its_stored_form(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade("a", timedelta(minutes=5), "2"),
            trade("b", timedelta(minutes=5), "5", mint=mint_of("Mint")),
            trade(
                "c", timedelta(minutes=5), "7", blockchain="eth", wallet_address=EVM, mint=evm_mint_of("Ab")
            ),
        ]
    )
    for blockchain, asked, echoed, volume in (
        ("solana", mint_of("mint"), mint_of("mint"), 2),
        ("solana", mint_of("Mint"), mint_of("Mint"), 5),
        ("solana", mint_of("nowhere"), mint_of("nowhere"), 0),
        ("eth", evm_mint_of("aB"), evm_mint_of("ab"), 7),
        # The same mint on another chain is another token.
        ("eth", mint_of("mint"), mint_of("mint").lower(), 0),
    ):
        data = caller.get("/transactions/volume", blockchain=blockchain, type="kol", mint=asked)
        assert (data["mint"], data["volume"]) == (echoed, volume)
