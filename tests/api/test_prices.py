"""GET /v1/tokens/prices: of which tokens, in which order, for how much."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import NewCaller
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, price_row, trade_row
from wallet_api.database import Connection
from wallet_api.ledger.rebuild import rebuild_ledger

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

PATH = "/tokens/prices"
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}
NOW = datetime.now(UTC).replace(microsecond=0)


def test_each_token_is_answered_in_its_place(caller: Caller, importer: Importer) -> None:
    at = NOW - timedelta(minutes=5)
    importer.trades(
        [
            trade_row(ANN, "a", at, mint=mint_of("a"), token_amount="4", token_name="A"),
            # Too old for a price.
            trade_row(ANN, "b", NOW - timedelta(days=3), mint=mint_of("b")),
            # The newest one is worth nothing, and makes no price.
            trade_row(ANN, "c", at, mint=mint_of("c"), value="2"),
            trade_row(ANN, "d", NOW, mint=mint_of("c"), value="0.000001", value_usd="0.0001"),
        ]
    )
    mints = [mint_of(name) for name in ("b", "nowhere", "a", "c", "a")]
    data = caller.get(PATH, blockchain="solana", mint=",".join(mints))
    assert [row["mint"] for row in data["tokens"]] == mints
    assert [row["found"] for row in data["tokens"]] == [True, False, True, True, True]
    assert [str(row["price"]) for row in data["tokens"]] == ["None", "None", "0.25", "2", "0.25"]
    assert [row["token_name"] for row in data["tokens"]] == ["", "", "A", "", "A"]
    assert (data["blockchain"], data["currency"]) == ("solana", "SOL")
    block = caller.get("/tokens/stats", blockchain="solana", mint=mint_of("c"))["token"]
    own = {"found": True, "last_price": block["price"], "last_price_at": block["price_at"]}
    assert data["tokens"][3] == {name: (block | own)[name] for name in data["tokens"][3]}
    assert caller.get(PATH, blockchain="solana", mint=mint_of("a"))["tokens"] == data["tokens"][2:3]


def test_the_name_of_a_token_is_that_of_its_newest_trade_with_one(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    def trade(wallet: str, minutes: int, name: str) -> dict[str, Any]:
        return trade_row(wallet, f"{wallet}-{minutes}", NOW - timedelta(minutes=minutes), token_name=name)

    def name() -> str:
        # What is kept of names is the same after each step as if it were computed at once.
        assert set(rebuild_ledger(connection).values()) == {0}
        (row,) = caller.get(PATH, **TOKEN)["tokens"]
        return str(row["token_name"])

    importer.trades([trade(ANN, 30, ""), trade(BEN, 40, "One")])
    assert name() == "One"
    importer.trades([trade(ANN, 20, "Two")])
    assert name() == "Two"
    importer.trades([trade(BEN, 10, "")])
    assert name() == "Two"
    importer.remove_trades([trade(ANN, 20, "Two")])
    assert name() == "One"
    importer.trades([trade(BEN, 40, "Three")])
    assert name() == "Three"
    importer.remove_trades([trade(BEN, 40, "Three")])
    assert name() == ""
    importer.trades([trade(ANN, 9, "Four"), trade(BEN, 8, "Five")])
    assert name() == "Five"


def test_a_trade_that_exchanged_nothing_makes_no_price(caller: Caller, importer: Importer) -> None:
    at = NOW - timedelta(minutes=5)
    importer.trades([trade_row(ANN, "a", at, token_amount="4"), trade_row(ANN, "b", NOW, value="3")])
    assert str(caller.get(PATH, **TOKEN)["tokens"][0]["price"]) == "3"
    # It is corrected: the price is that of the trade before it, now and as of a moment after both.
    unpriced = trade_row(ANN, "b", NOW, value="3", exchanged_value="0")
    importer.trades([unpriced])
    for moment in ({}, {"as_of": NOW.isoformat()}):
        assert str(caller.get(PATH, **TOKEN, **moment)["tokens"][0]["price"]) == "0.25"
    importer.remove_trades([trade_row(ANN, "a", at)])
    (row,) = caller.get(PATH, **TOKEN)["tokens"]
    assert (row["found"], row["price"], row["last_price"]) == (True, None, None)
    # It costs what it costs.
    wallet = {"blockchain": "solana", "type": "kol", "address": ANN}
    (token,) = caller.get("/wallets/history", **wallet)["token_overview"]
    assert str(token["avg_cost"]) == "3"


def test_at_most_a_hundred_tokens_cost_one_credit(new_caller: NewCaller) -> None:
    caller = new_caller(credits=2)
    mints = [mint_of(f"token {number}") for number in range(100)]
    response = caller.send(PATH, blockchain="solana", mint=",".join(mints))
    assert (response.status_code, response.headers["X-Credits-Remaining"]) == (200, "1")
    assert len(response.json["data"]["tokens"]) == 100


def test_a_trade_counts_from_its_second_on_and_never_once_it_is_removed(
    caller: Caller, importer: Importer
) -> None:
    at = NOW - timedelta(hours=3)
    late = trade_row(ANN, "late", at + timedelta(seconds=2.5), value="3")
    importer.prices([price_row("150", at), price_row("160", at + timedelta(seconds=2))])
    importer.trades([trade_row(ANN, "first", at, value="2"), late])

    def row(seconds: float, mint: str = TOKEN["mint"]) -> list[str]:
        moment = (at + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
        data = caller.get(PATH, blockchain="solana", mint=f"{mint},{mint_of('unknown')}", as_of=moment)
        token, unknown = data["tokens"]
        assert (unknown["found"], unknown["price"], unknown["last_price"]) == (False, None, None)
        names = ("price", "price_usd", "price_at", "last_price")
        return [str(value) for value in (data["native_price_usd"], *(token[name] for name in names))]

    first, second = (f"{at + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}" for seconds in (0, 2))
    assert row(-1) == ["None", "None", "None", "None", "None"]
    assert row(0) == row(1) == ["150", "2", "300", first, "2"]
    # Moments are whole seconds, and the trade is after this one.
    assert row(2) == row(2.9) == ["160", "2", "320", first, "2"]
    assert row(3) == ["160", "3", "480", second, "3"]
    assert row(2, "native") == ["160", "1", "160", second, "1"]
    importer.remove_trades([late])
    assert row(3) == ["160", "2", "320", first, "2"]
    importer.remove_trades([trade_row(ANN, "first", at)])
    assert row(3) == ["160", "None", "None", "None", "None"]


def test_the_native_coin_costs_one(caller: Caller, importer: Importer) -> None:
    at = NOW - timedelta(hours=30)
    importer.prices([price_row("150.5", at)])
    data = caller.get(PATH, blockchain="solana", mint=f"{mint_of('a')},native")
    assert str(data["native_price_usd"]) == "150.5"
    unknown, coin = data["tokens"]
    assert (coin["price_source"], coin["liquidity_usd"]) == (None, None)
    assert (unknown["found"], coin["found"], coin["symbol"], coin["token_name"]) == (
        False,
        True,
        "SOL",
        "Solana",
    )
    shown = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    names = ("price", "price_usd", "price_at", "last_price", "last_price_at", "market_cap")
    assert [str(coin[name]) for name in names] == ["1", "150.5", shown, "1", shown, "None"]
    earlier = (at - timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
    data = caller.get(PATH, blockchain="solana", mint="native", as_of=earlier)
    [coin] = data["tokens"]
    assert [str(coin[name]) for name in names] == ["1", "None", "None", "1", "None", "None"]
    assert (data["native_price_usd"], data["as_of"]) == (None, earlier)
