"""GET /v1/tokens/transactions, /stats and /holders: of which token, and pages by a figure that changes.

Figures and orders are in test_figures.py and tests/integration/test_ledger_properties.py.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import ANN, BEN, SMART, WHALE, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

TRANSACTIONS, STATS, HOLDERS = (f"/tokens/{name}" for name in ("transactions", "stats", "holders"))
OF_MINT = {"blockchain": "solana", "mint": mint_of("mint")}
NOW = datetime.now(UTC).replace(microsecond=0)


def trade(address: str, side: str, minutes: int, amount: str, mint: str = "mint") -> dict[str, object]:
    """A trade so many minutes ago."""
    at = NOW - timedelta(minutes=minutes)
    return trade_row(
        address, f"{minutes}", at, transaction_type=side, token_amount=amount, mint=mint_of(mint)
    )


def test_a_token_without_a_trade_on_the_chain_is_not_found(caller: Caller, importer: Importer) -> None:
    elsewhere = {"blockchain": "eth", "mint": evm_mint_of("1")}
    for path in (TRANSACTIONS, STATS, HOLDERS):
        trades = [trade(ANN, "buy", 1, "1"), trade(ANN, "buy", 2, "1", "removed")]
        importer.trades(trades)
        importer.remove_trades(trades[1:])
        for changed in ({"mint": mint_of("nowhere")}, {"mint": mint_of("removed")}, elsewhere):
            error = caller.refused(path, **OF_MINT | changed)
            assert (error["code"], error["reason"]) == ("not_found", "token_not_found")


def test_of_equal_quantities_the_one_that_was_larger_once_comes_first(
    caller: Caller, importer: Importer
) -> None:
    # Else they are in the order of their addresses.
    importer.trades([trade(ANN, "buy", 3, "2"), trade(BEN, "buy", 2, "3"), trade(BEN, "sell", 1, "1")])
    holders = caller.get(HOLDERS, **OF_MINT)["holders"]
    assert [row["profile"]["wallet_address"] for row in holders] == [BEN, ANN]


def test_pages_by_unrealized_profit_keep_the_price_of_the_first_one(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        [
            trade(ANN, "buy", 90, "3") | {"value": "9"},
            trade(SMART, "buy", 80, "1") | {"value": "1"},
            trade(WHALE, "buy", 70, "2") | {"value": "2"},
        ]
    )
    question = OF_MINT | {"sort": "unrealized_pnl", "limit": 1}
    whole = caller.get(STATS, **question | {"limit": 3})["traders"]

    def change_the_price(pages: int) -> None:
        if pages == 1:
            importer.trades([trade(BEN, "buy", 1, "1") | {"value": "1000"}])

    rows = caller.pages(STATS, "traders", change_the_price, **question)
    assert [row for row in rows if row["profile"]["wallet_address"] != BEN] == whole
    # At the new price the order is another one.
    assert caller.get(STATS, **question)["traders"] != rows[:1]
