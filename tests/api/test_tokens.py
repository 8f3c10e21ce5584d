"""GET /v1/tokens/transactions, /stats and /holders: of which token, and in what order."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
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


def test_traders_have_the_figure_that_they_are_sorted_by(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade(ANN, "sell", 90, "1"),
            trade(SMART, "buy", 80, "2"),
            trade(WHALE, "buy", 70, "1"),
            trade(ANN, "buy", 60, "3"),
            trade(WHALE, "sell", 10, "1"),
            # Sold without having bought.
            trade(BEN, "sell", 40, "10"),
        ]
    )

    def order(**page: str) -> list[str]:
        return [row["profile"]["wallet_address"] for row in caller.get(STATS, **OF_MINT, **page)["traders"]]

    assert order(sort="first_buy") == [SMART, WHALE, ANN, BEN]
    assert order(sort="first_buy", order="desc") == [ANN, WHALE, SMART, BEN]
    assert order(sort="last_trade") == [WHALE, BEN, ANN, SMART]
    assert order(sort="token_amount") == [ANN, SMART, WHALE, BEN]
    assert order(sort="token_amount", still_holding="false") == [WHALE, BEN]
    traders = caller.get(STATS, **OF_MINT, sort="first_buy")["traders"]
    entries = [row["trader_stats"].get("first_buy_at") for row in traders]
    assert entries == [shown(80), shown(70), shown(60), None]
    stats = caller.get(STATS, **OF_MINT, still_holding="false", limit=1)
    assert (stats["pagination"]["total"], sum(list(stats["total_holders"].values())[:3])) == (2, 4)
    holders = caller.get(HOLDERS, **OF_MINT, still_holding="false")
    assert [row["profile"]["wallet_address"] for row in holders["holders"]] == [WHALE]
    assert (holders["pagination"]["total"], holders["total"]) == (1, 3)


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
    first = caller.get(STATS, **question)
    rows, cursor = first["traders"], first["pagination"]["next_cursor"]
    # At the new price the order is another one.
    importer.trades([trade(BEN, "buy", 1, "1") | {"value": "1000"}])
    while cursor:
        page = caller.get(STATS, **question, cursor=cursor)
        rows, cursor = rows + page["traders"], page["pagination"]["next_cursor"]
    assert [row for row in rows if row["profile"]["wallet_address"] != BEN] == whole
    assert caller.get(STATS, **question)["traders"] != first["traders"]


@pytest.mark.parametrize("path", [STATS, HOLDERS])
def test_a_page_of_traders_has_at_most_a_thousand(caller: Caller, importer: Importer, path: str) -> None:
    importer.trades([trade(ANN, "buy", 90, "3")])
    data = caller.get(path, **OF_MINT, limit=5000)
    assert (data["pagination"]["limit"], data["warnings"]) == (1000, ["limit was capped from 5000 to 1000."])
    assert "warnings" not in caller.get(path, **OF_MINT)
    for wrong in ({"sort": "profit"}, {"order": "up"}, {"still_holding": "yes"}, {"limit": "0"}):
        error = caller.refused(path, **OF_MINT, **wrong)
        assert (error["code"], error["parameter"]) == ("invalid_parameter", *wrong)


def shown(minutes: int) -> str:
    return (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
