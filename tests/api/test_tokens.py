"""GET /v1/tokens/transactions, /stats and /holders: of which token, and in what order."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, SMART, WHALE, trade_row

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


def test_a_known_token_that_the_type_never_traded_is_empty(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(ANN, "buy", 1, "1")])
    question = OF_MINT | {"type": "whale"}
    stats = caller.get(STATS, **question)
    assert stats["traders"] == []
    assert {*stats["total_holders"].values(), *stats["total_statistics"].values()} == {0}
    assert not [name for name in stats["total_statistics"] if "entry" in name]
    holders = caller.get(HOLDERS, **question)
    assert (holders["holders"], holders["total"], holders["count"]) == ([], 0, 0)
    page = caller.get(TRANSACTIONS, **question)
    assert (page["transactions"], page["pagination"]["total"]) == ([], 0)
    assert page["token"]["mint"] == mint_of("mint")


@pytest.mark.parametrize("path", [TRANSACTIONS, STATS, HOLDERS])
def test_a_token_without_a_trade_on_the_chain_is_not_found(
    caller: Caller, importer: Importer, path: str
) -> None:
    trades = [trade(ANN, "buy", 1, "1"), trade(ANN, "buy", 2, "1", "removed")]
    importer.trades(trades)
    importer.remove_trades(trades[1:])
    for changed in ({"mint": mint_of("nowhere")}, {"mint": mint_of("removed")}, {"blockchain": "eth"}):
        error = caller.refused(path, **OF_MINT | changed)
        assert (error["code"], error["reason"]) == ("not_found", "token_not_found")


def test_holders_are_those_with_a_peak_and_sorted_by_what_they_hold(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        [
            trade(ANN, "buy", 90, "200"),
            trade(ANN, "sell", 70, "50"),
            trade(SMART, "buy", 60, "1000"),
            trade(SMART, "sell", 50, "1000"),
            # Sold without having bought.
            trade(WHALE, "sell", 50, "10"),
        ]
    )
    data = caller.get(HOLDERS, **OF_MINT)
    assert [row["profile"]["wallet_address"] for row in data["holders"]] == [ANN, SMART]
    importer.trades([trade(WHALE, "buy", 30, "150")])
    data = caller.get(HOLDERS, **OF_MINT)
    shown = [(row["profile"]["wallet_address"], row["holdings"]["token_amount"]) for row in data["holders"]]
    # Of equal quantities the one that was larger once.
    assert shown == [(ANN, 150), (WHALE, 150), (SMART, 0)]
    assert (data["total"], data["count"], data["total_holders"]["still_holding_count"]) == (3, 3, 2)
    first = caller.get(HOLDERS, **OF_MINT, limit=1)
    assert (first["total"], first["count"], first["holders"]) == (3, 1, data["holders"][:1])
