"""GET /v1/tokens/prices: of which tokens, in which order, for how much."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.conftest import NewCaller
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

PATH = "/tokens/prices"
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
    assert data["tokens"][3] == {name: block.get(name, True) for name in data["tokens"][3]}
    assert caller.get(PATH, blockchain="solana", mint=mint_of("a"))["tokens"] == data["tokens"][2:3]


def test_at_most_a_hundred_tokens_cost_one_credit(new_caller: NewCaller) -> None:
    caller = new_caller(credits=2)
    mints = [mint_of(f"token {number}") for number in range(100)]
    response = caller.send(PATH, blockchain="solana", mint=",".join(mints))
    assert (response.status_code, response.headers["X-Credits-Remaining"]) == (200, "1")
    assert len(response.json["data"]["tokens"]) == 100
