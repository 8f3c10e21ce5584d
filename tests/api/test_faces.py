"""The face of tokens, as nodes returned it: symbol, name, decimals, supply, and what follows from it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from wallet_api.database import Connection

NOW = datetime.now(UTC).replace(microsecond=0)
WALLET = mint_of("wallet")
GROUP = {"blockchain": "solana", "type": "kol"}
ONE = GROUP | {"address": WALLET}
MINT, BARE = mint_of("mint"), mint_of("bare")


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in."""
    return Importer(database_url)


@pytest.fixture(autouse=True)
def _world(importer: Importer, connection: Connection) -> None:
    """A wallet that holds 30 of a thousand nameless tokens, and one of which no node says anything."""
    importer.wallets([GROUP | {"wallet_address": WALLET}])
    rows = [
        ("a", MINT, "buy", "50", "100", 30),
        ("b", MINT, "sell", "20", "40", 20),
        ("c", BARE, "buy", "1", "1", 10),
    ]
    importer.trades(
        {
            "blockchain": "solana",
            "wallet_address": WALLET,
            "tx_signature": signature,
            "mint": mint,
            "transaction_type": side,
            "token_amount": amount,
            "value": value,
            "created_at": (NOW - timedelta(minutes=minutes)).isoformat(),
        }
        for signature, mint, side, amount, value, minutes in rows
    )
    importer.prices(
        [{"currency": "SOL", "usd": "150", "priced_at": (NOW - timedelta(minutes=5)).isoformat()}]
    )
    connection.execute(
        "INSERT INTO token_faces SELECT token_id, 'FRT', 'Fart \" coin', 6, 1000.500, now(), now()"
        " FROM tokens WHERE mint = %s",
        [MINT],
    )


def of(rows: list[dict[str, Any]], mint: str) -> dict[str, Any]:
    """Return the only row of a token."""
    (row,) = (row for row in rows if row["mint"] == mint)
    return row


def test_a_token_has_supply_and_market_cap(caller: Caller) -> None:
    token = caller.get("/tokens/stats", blockchain="solana", mint=MINT)["token"]
    assert (token["symbol"], token["token_name"]) == ("FRT", 'Fart " coin')
    assert (token["token_decimals"], token["token_supply"]) == (6, Decimal("1000.5"))
    assert (token["market_cap"], token["market_cap_usd"], token["market_cap_currency"]) == (
        2001,
        300150,
        "SOL",
    )
    bare = caller.get("/tokens/stats", blockchain="solana", mint=BARE)["token"]
    names = (
        "symbol",
        "token_decimals",
        "token_supply",
        "market_cap",
        "market_cap_usd",
        "market_cap_currency",
    )
    assert [bare[name] for name in names] == [None] * 6
    assert bare["token_name"] == ""


def test_holdings_are_a_part_of_the_supply(caller: Caller) -> None:
    parts = (Decimal("2.9985"), Decimal("4.9975"))
    stats = caller.get("/tokens/stats", blockchain="solana", mint=MINT)
    held = caller.get("/tokens/holders", blockchain="solana", mint=MINT)["holders"][0]["holdings"]
    feed = caller.get("/transactions/latest", **GROUP, mint=MINT)["transactions"][0]
    for holding in (
        stats["total_holdings"],
        stats["traders"][0]["trader_holdings"],
        held,
        feed["holdings_after"],
    ):
        assert (holding["supply_pct"], holding["supply_pct_peak"]) == parts
    bare = caller.get("/tokens/holders", blockchain="solana", mint=BARE)["holders"][0]["holdings"]
    assert (bare["supply_pct"], bare["supply_pct_peak"]) == (None, None)


def test_symbols_and_names_stand_wherever_tokens_do(importer: Importer, caller: Caller) -> None:
    history = caller.get("/wallets/history", **ONE)
    tracker = caller.get("/wallets/tracker", blockchain="solana", address=WALLET)
    lists = [
        history["token_overview"],
        history["trades"][1:],
        tracker["period_history_tokens"],
        tracker["period_trades"][1:],
        tracker["period_active_tokens"]["tokens"],
        caller.get("/analytics", **GROUP, mode="most_traded")["tokens"],
        caller.get("/transactions/latest", **GROUP)["transactions"][1:],
    ]
    other = mint_of("other")
    importer.wallets([GROUP | {"wallet_address": other}])
    trade = {"blockchain": "solana", "wallet_address": other, "tx_signature": "d", "mint": MINT}
    trade |= {"transaction_type": "buy", "token_amount": "1", "value": "1", "created_at": NOW.isoformat()}
    importer.trades([trade])
    connections = caller.get("/wallets/connections", blockchain="solana", address=WALLET)["connections"]
    lists.append(connections[0]["shared_tokens"])
    for rows in lists:
        for row in rows:
            wanted = ("FRT", 'Fart " coin') if row["mint"] == MINT else (None, "")
            assert (row["symbol"], row["token_name"]) == wanted
    assert (of(lists[6], MINT) if len(lists[6]) == 1 else lists[6][0])["token_decimals"] == 6


def test_the_name_of_a_trade_comes_first(importer: Importer, caller: Caller) -> None:
    named = {"blockchain": "solana", "wallet_address": WALLET, "tx_signature": "z", "mint": MINT}
    named |= {"transaction_type": "buy", "token_amount": "1", "value": "2", "token_name": "Other"}
    importer.trades([named | {"created_at": (NOW - timedelta(minutes=1)).isoformat()}])
    token = caller.get("/tokens/stats", blockchain="solana", mint=MINT)["token"]
    assert (token["symbol"], token["token_name"]) == ("FRT", "Other")
