"""GET /v1/analytics: the tokens that most wallets of a group traded, their order, and their caching."""

from datetime import UTC, datetime, timedelta
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


def test_tokens_are_those_of_the_period_up_to_the_limit(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade(A, "both", HOUR),
            trade(B, "both", HOUR),
            trade(A, "one", HOUR),
            trade(A, "long ago", 8 * DAY, "99"),
            trade(B, "long ago", 8 * DAY, "99"),
        ]
    )

    def mints(**arguments: Any) -> list[str]:
        return [token["mint"] for token in caller.get("/analytics", **QUESTION, **arguments)["tokens"]]

    data = caller.get("/analytics", **QUESTION)
    del data["tokens"]
    assert data == QUESTION | {"currency": "SOL", "period": "7d"}
    assert mints() == mints(period="7d") == [mint_of("both"), mint_of("one")]
    assert mints(limit=1) == [mint_of("both")]
    assert mints(period="30d") == [mint_of("long ago"), mint_of("both"), mint_of("one")]
    capped = caller.get("/analytics", **QUESTION, limit=1001)
    assert capped["warnings"] == ["limit was capped from 1001 to 1000."]


def test_a_group_without_trades_has_none(caller: Caller, importer: Importer) -> None:
    assert caller.get("/analytics", **QUESTION)["tokens"] == []


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
