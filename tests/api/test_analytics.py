"""GET /v1/analytics: the tokens that most wallets of a group traded, their order, and their caching."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

A = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
B = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
SMART = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
NOW = datetime.now(UTC).replace(microsecond=0)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
QUESTION = {"blockchain": "solana", "type": "kol", "mode": "most_traded"}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for two wallets of a group and one of another."""
    importer = Importer(database_url)
    importer.wallets(
        [
            {"blockchain": "solana", "type": type, "wallet_address": address}
            for address, type in {A: "kol", B: "kol", SMART: "smart"}.items()
        ]
    )
    return importer


def trade(address: str, mint: str, ago: timedelta, value: str = "1", **fields: Any) -> Row:
    """A buy of one token."""
    return trade_row(
        address, f"{mint} {ago.total_seconds()}", NOW - ago, mint=mint_of(mint), value=value, **fields
    )


def test_tokens_come_by_wallets_then_volume_then_mint(caller: Caller, importer: Importer) -> None:
    importer.prices([{"currency": "SOL", "usd": "10", "priced_at": (NOW - 40 * DAY).isoformat()}])
    importer.trades(
        [
            trade(A, "both", 3 * DAY, "1", token_name="Both"),
            trade(A, "both", 2 * HOUR, "4", transaction_type="sell", value_usd="7"),
            trade(B, "both", HOUR, "2"),
            trade(SMART, "both", timedelta(minutes=5), "9"),
            trade(A, "a lot", HOUR, "50"),
            trade(B, "d", HOUR),
            trade(B, "c", HOUR),
            trade(A, "long ago", 8 * DAY, "99"),
            trade(SMART, "of others", HOUR, "99"),
            # A few minutes ahead of the clock, so in no period.
            trade(A, "ahead", NOW - datetime.now(UTC) - timedelta(minutes=4), "99"),
        ]
    )
    data = caller.get("/analytics", **QUESTION)
    tokens = data.pop("tokens")
    assert data == QUESTION | {"currency": "SOL", "period": "7d"}
    assert [token["mint"] for token in tokens] == [
        mint_of("both"),
        mint_of("a lot"),
        mint_of("c"),
        mint_of("d"),
    ]
    assert tokens[0] == {
        "mint": mint_of("both"),
        "token_name": "Both",
        "wallet_count": 2,
        "buy_txn": 2,
        "sell_txn": 1,
        "total_txn": 3,
        "volume": 7,
        "volume_usd": 37,  # 10 + 7 + 20
        "realized_pnl": 3,
        "price": 9,  # of the newest trade, by any wallet
    }
    assert [token["mint"] for token in caller.get("/analytics", **QUESTION, limit=1)["tokens"]] == [
        mint_of("both")
    ]
    assert [token["mint"] for token in caller.get("/analytics", **QUESTION, period="30d")["tokens"]][:2] == [
        mint_of("both"),
        mint_of("long ago"),
    ]
    assert caller.get("/analytics", **QUESTION, period="6h")["tokens"][0]["realized_pnl"] == 3
    capped = caller.get("/analytics", **QUESTION, limit=1001)
    assert capped["warnings"] == ["limit was capped from 1001 to 1000."]


def test_dollars_and_prices_that_are_unknown(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(A, "mint", 2 * DAY), trade(A, "priced", HOUR, "0.5")])
    priced, old = caller.get("/analytics", **QUESTION)["tokens"][::-1]
    assert ("volume_usd" in priced, priced["price"]) == (False, Decimal("0.5"))
    assert ("volume_usd" in old, old["price"]) == (False, None)


def test_a_group_without_trades_has_none(caller: Caller, importer: Importer) -> None:
    assert caller.get("/analytics", **QUESTION)["tokens"] == []


@pytest.mark.parametrize(
    ("name", "value"), [("mode", "win_rate"), ("mode", None), ("period", "1y"), ("limit", 0), ("cursor", "a")]
)
def test_what_is_not_allowed_is_refused_by_name(caller: Caller, name: str, value: object) -> None:
    error = caller.ask("/analytics", **QUESTION | {name: value})["error"]
    assert (error["code"], error["parameter"]) == ("invalid_parameter", name)
    if name == "mode":
        assert error["allowed"] == ["most_traded"]


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=3600)
def test_tokens_are_cached_like_a_leaderboard_at_any_limit(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(A, "first", HOUR), trade(A, "second", HOUR)])
    first = caller.ask("/analytics", **QUESTION, limit=1)
    importer.trades([trade(B, "second", HOUR)])
    again = caller.ask("/analytics", **QUESTION, limit=2)
    assert (first["meta"]["cached"], again["meta"]["cached"]) == (False, True)
    assert [token["wallet_count"] for token in again["data"]["tokens"]] == [1, 1]
    other = caller.ask("/analytics", **QUESTION, period="6h")
    assert (other["meta"]["cached"], other["data"]["tokens"][0]["mint"]) == (False, mint_of("second"))
