"""The face of tokens, as nodes returned it: symbol, name, decimals, supply, and what follows from it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, price_row, trade_row
from wallet_api.database import Connection

NOW = datetime.now(UTC).replace(microsecond=0)
MINT, BARE = mint_of("mint"), mint_of("bare")
OWN = {"blockchain": "solana", "address": ANN}
TOKEN = {"blockchain": "solana", "mint": MINT}
UNKNOWN = ("symbol", "token_decimals", "token_supply", "market_cap", "market_cap_usd", "market_cap_currency")


def trade(address: str, minutes: int, **fields: Any) -> Row:
    """A trade so many minutes ago."""
    return trade_row(address, f"s{minutes}", NOW - timedelta(minutes=minutes), **fields)


@pytest.fixture(autouse=True)
def _world(importer: Importer, connection: Connection) -> None:
    """A wallet that holds 30 of a thousand nameless tokens, and one of which no node says anything."""
    importer.trades(
        [
            trade(ANN, 30, token_amount="50", value="100"),
            trade(ANN, 20, transaction_type="sell", token_amount="20", value="40"),
            trade(ANN, 10, mint=BARE),
        ]
    )
    importer.prices([price_row("150", NOW - timedelta(minutes=5))])
    connection.execute(
        "INSERT INTO token_faces SELECT token_id, 'FRT', 'Fart \" coin', 6, 1000.500, now(), now()"
        " FROM tokens WHERE mint = %s",
        [MINT],
    )


def test_a_token_has_supply_and_market_cap(caller: Caller) -> None:
    token = caller.get("/tokens/stats", **TOKEN)["token"]
    assert (token["token_name"], [token[name] for name in UNKNOWN]) == (
        'Fart " coin',
        ["FRT", 6, Decimal("1000.5"), 2001, 300150, "SOL"],
    )
    bare = caller.get("/tokens/stats", **TOKEN | {"mint": BARE})["token"]
    assert (bare["token_name"], [bare[name] for name in UNKNOWN]) == ("", [None] * 6)


def test_holdings_are_a_part_of_the_supply(caller: Caller) -> None:
    stats = caller.get("/tokens/stats", **TOKEN)
    (signal,) = caller.get("/signals", **GROUP, mode="cluster", min_wallets=1, limit=1)["signals"]
    assert (signal["token"]["token_supply"], signal["token"]["token_decimals"]) == (Decimal("1000.5"), 6)
    assert signal["window"]["supply_pct_bought"] == Decimal("4.9975")
    for holding in (
        signal["wallets"][0],
        stats["total_holdings"],
        stats["traders"][0]["trader_holdings"],
        caller.get("/tokens/holders", **TOKEN)["holders"][0]["holdings"],
        caller.get("/transactions/latest", **GROUP, mint=MINT)["transactions"][0]["holdings_after"],
    ):
        assert (holding["supply_pct"], holding["supply_pct_peak"]) == (Decimal("2.9985"), Decimal("4.9975"))


def test_symbols_and_names_stand_wherever_tokens_do(importer: Importer, caller: Caller) -> None:
    importer.trades([trade(BEN, 1), trade(BEN, 2, mint=BARE)])
    history = caller.get("/wallets/history", **OWN, type="kol")
    tracker = caller.get("/wallets/tracker", **OWN)
    feed = caller.get("/transactions/latest", **GROUP)["transactions"]
    for rows in (
        history["token_overview"],
        history["trades"],
        tracker["period_history_tokens"],
        tracker["period_trades"],
        tracker["period_active_tokens"]["tokens"],
        caller.get("/analytics", **GROUP, mode="most_traded")["tokens"],
        caller.get("/analytics", **GROUP, mode="net_flow")["net_flows"],
        caller.get("/wallets/connections", **OWN)["connections"][0]["shared_tokens"],
        [row["token"] for row in caller.get("/signals", **GROUP, mode="entry")["signals"]],
        feed,
    ):
        assert {row["mint"] for row in rows} == {MINT, BARE}
        for row in rows:
            named = ("FRT", 'Fart " coin') if row["mint"] == MINT else (None, "")
            assert (row["symbol"], row["token_name"]) == named
    assert {(row["mint"], row["token_decimals"]) for row in feed} == {(MINT, 6), (BARE, None)}


def test_the_name_of_a_trade_comes_first(importer: Importer, caller: Caller) -> None:
    importer.trades([trade(ANN, 1, token_name="Other")])
    token = caller.get("/tokens/stats", **TOKEN)["token"]
    assert (token["symbol"], token["token_name"]) == ("FRT", "Other")


def test_a_name_with_quotes_and_commas_stays_one_text(importer: Importer, caller: Caller) -> None:
    names = ['a",', '","', ',"', "\\", '\\",', '"']
    importer.trades(
        [trade(BEN, at, mint=mint_of(f"n{at}"), token_name=name) for at, name in enumerate(names, 1)]
    )
    rows = caller.get("/transactions/latest", **GROUP, address=BEN)["transactions"]
    assert [row["token_name"] for row in rows] == names
