"""GET /v1/transactions/…: what a window shows, the block of a token, and dollars."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, price_row, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

MINT = mint_of("mint")
LATEST, TIMERANGE = "/transactions/latest", "/transactions/timerange"


def trade(signature: str, minutes: float, value: str = "1", **fields: Any) -> Row:
    """A buy of the first wallet, so many minutes ago."""
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=minutes)
    return trade_row(ANN, signature, at, value=value, **fields)


def signatures(data: Row) -> list[str]:
    """The trades of a response."""
    return [row["tx_signature"] for row in data["transactions"]]


def test_a_window_shows_its_newest_trades_and_how_many_there_are(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("past", 4), trade("earlier", 5)])
    within = caller.get(TIMERANGE, **GROUP, limit=1)
    assert (signatures(within), within["count"], within["total"]) == (["past"], 1, 2)
    assert within["warnings"] == ["Only the newest 1 of 2 trades are shown."]


def test_a_token_is_described_when_any_tracked_wallet_traded_it(caller: Caller, importer: Importer) -> None:
    newest = trade("a", 3)
    importer.trades(
        [
            newest,
            trade("b", 4, token_name="Old", wallet_address=BEN),
            trade("c", 5, token_name="Older"),
            trade("d", 5, mint=mint_of("other")),
        ]
    )
    importer.prices([price_row("150", datetime.now(UTC) - timedelta(days=1))])
    block = caller.get("/tokens/stats", blockchain="solana", mint=MINT)["token"]
    assert (block["token_name"], block["price_at"]) == ("Old", newest["created_at"].replace("+00:00", "Z"))
    for path in (LATEST, TIMERANGE):
        data = caller.get(path, **GROUP, mint=MINT)
        assert signatures(data) == ["a", "b", "c"]
        # The data of a feed has no native price, which would change it.
        assert data["token"] == {name: block[name] for name in block if not name.startswith("native_price")}
        # Known, but to no wallet of this type.
        other = caller.get(path, blockchain="solana", type="whale", mint=MINT)
        assert (other["token"], other["transactions"]) == (data["token"], [])
        assert "token" not in caller.get(path, **GROUP)


@pytest.mark.settings(
    answer_ttl_seconds=0, token_price_min_value_usd=Decimal(200), token_price_max_age_seconds=3600
)
def test_settings_decide_which_trades_make_a_price(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade("small", 3, "3", value_usd="199"),
            trade("large", 4, "2", value_usd="200"),
            trade("old", 61, "5", value_usd="500", mint=mint_of("other")),
        ]
    )
    for path in (LATEST, TIMERANGE):
        assert caller.get(path, **GROUP, mint=MINT)["token"]["price"] == 2
    assert caller.get(LATEST, **GROUP, mint=mint_of("other"))["token"]["price"] is None
    # Two tokens at 2, which cost 3 and 2.
    wallet = {"blockchain": "solana", "address": ANN}
    stats = caller.get("/wallets/history", **wallet, type="kol")["lifetime_stats"]
    assert (stats["unrealized_pnl"], stats["priced_tokens_count"]) == (-1, 1)
    rows = caller.get("/wallets/tracker", **wallet)["period_history_tokens"]
    assert {row["mint"]: row["unrealized_pnl"] for row in rows} == {MINT: -1, mint_of("other"): None}
