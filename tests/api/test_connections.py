"""GET /v1/wallets/connections: the order of wallets, and how many tokens and wallets are shown."""

from datetime import UTC, datetime, timedelta

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, SMART, WHALE, trade_row


def test_the_limit_cuts_the_connections_and_fifty_their_tokens(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    mints = [mint_of(f"mint {number:02}") for number in range(60)]
    importer.trades(
        [
            *(
                trade_row(wallet, f"s{number}", now - timedelta(minutes=5 + number // 2), mint=mint)
                for wallet in (SMART, ANN)
                for number, mint in enumerate(mints)
            ),
            *(trade_row(wallet, "s", now - timedelta(hours=1), mint=mints[0]) for wallet in (BEN, WHALE)),
        ]
    )
    question = {"blockchain": "solana", "address": SMART}
    data = caller.get("/wallets/connections", **question)
    assert (data["period"], data["token_count"], data["total"]) == ("30d", 60, 3)
    assert [row["wallet_address"] for row in data["connections"]] == [ANN, WHALE, BEN]
    first = data["connections"][0]
    assert (first["shared_tokens_count"], first["overlap_score"]) == (60, 1)
    assert [token["mint"] for token in first["shared_tokens"]] == mints[:50]
    assert "warnings" not in data
    warnings = ["Only the first 1 of 3 connections are shown."]
    cut = data | {"connections": [first], "warnings": warnings}
    page = caller.get("/wallets/connections", **question, limit=1)
    assert page.pop("pagination")["next_cursor"]
    assert page == {name: value for name, value in cut.items() if name != "pagination"}
    # All of them, page by page.
    assert caller.pages("/wallets/connections", "connections", **question, limit=1) == data["connections"]
    assert caller.pages("/wallets/connections", "connections", **question, limit=2) == data["connections"]
    assert data["pagination"] == {"limit": 3, "next_cursor": None, "has_more": False, "total": 3}
