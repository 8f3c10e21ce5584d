"""GET /v1/tokens/transactions, /stats and /holders: by whom, in what order, and of which token."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

A = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
B = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
C = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
NOW = datetime.now(UTC).replace(microsecond=0)
MINUTE = timedelta(minutes=1)
TRANSACTIONS, STATS, HOLDERS = (f"/tokens/{name}" for name in ("transactions", "stats", "holders"))
OF_MINT = {"blockchain": "solana", "mint": mint_of("mint")}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for a wallet of each type of Solana and one of Ethereum."""
    importer = Importer(database_url)
    types = {A: "kol", B: "smart", C: "whale"}
    importer.wallets(
        [
            *(
                {"blockchain": "solana", "type": type, "wallet_address": address, "copytrade_link": type}
                for address, type in types.items()
            ),
            {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        ]
    )
    return importer


def trade(address: str, side: str, ago: timedelta, amount: str, value: str, **fields: Any) -> Row:
    """A trade in a token, one of this wallet at that time."""
    more = {"transaction_type": side, "token_amount": amount, "value": value, **fields}
    return trade_row(address, f"{ago.total_seconds()}", NOW - ago, **more)


def import_example(importer: Importer) -> None:
    """Three wallets: one bought and sold a part, one bought, one sold what it never bought."""
    importer.prices([{"currency": "SOL", "usd": "100", "priced_at": (NOW - timedelta(days=3)).isoformat()}])
    importer.trades(
        [
            trade(A, "buy", 90 * MINUTE, "100", "1", token_name="Coin"),
            trade(A, "buy", 80 * MINUTE, "100", "3"),
            trade(A, "sell", 70 * MINUTE, "50", "2"),
            trade(B, "buy", 60 * MINUTE, "1000", "8", value_usd="900"),
            trade(C, "sell", 50 * MINUTE, "10", "0.5"),
            trade(C, "buy", 40 * MINUTE, "1", "1", mint=mint_of("other")),
        ]
    )


def test_a_known_token_that_the_type_never_traded_is_empty(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(A, "buy", MINUTE, "1", "1")])
    question = OF_MINT | {"type": "whale"}
    stats = caller.get(STATS, **question)
    assert stats["traders"] == []
    assert set(stats["total_holders"].values()) == {0}
    totals = stats["total_statistics"]
    assert not [name for name in totals if "entry" in name]
    assert set(totals.values()) == {0}
    holders = caller.get(HOLDERS, **question)
    assert (holders["holders"], holders["total"], holders["count"]) == ([], 0, 0)
    page = caller.get(TRANSACTIONS, **question)
    assert (page["transactions"], page["pagination"]["total"]) == ([], 0)
    assert page["token"]["mint"] == mint_of("mint")


@pytest.mark.parametrize("path", [TRANSACTIONS, STATS, HOLDERS])
def test_a_token_without_a_trade_on_the_chain_is_not_found(
    caller: Caller, importer: Importer, path: str
) -> None:
    trades = [
        trade(A, "buy", MINUTE, "1", "1"),
        trade(A, "buy", 2 * MINUTE, "1", "1", mint=mint_of("removed")),
    ]
    importer.trades(trades)
    importer.remove_trades(trades[1:])
    for question in (
        {"blockchain": "solana", "mint": mint_of("nowhere")},
        {"blockchain": "solana", "mint": mint_of("removed")},
        {"blockchain": "eth", "mint": mint_of("mint")},
    ):
        error = caller.ask(path, **question)["error"]
        assert (error["code"], error["reason"]) == ("not_found", "token_not_found")


def test_mints_of_evm_chains_are_found_in_any_case(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(EVM, "buy", MINUTE, "1", "1", blockchain="eth", mint=evm_mint_of("AB"))])
    for path in (TRANSACTIONS, STATS, HOLDERS):
        assert caller.get(path, blockchain="eth", mint=evm_mint_of("aB"))["token"]["mint"] == evm_mint_of(
            "ab"
        )
    assert caller.get(STATS, blockchain="eth", mint=evm_mint_of("ab"))["token"]["currency"] == "ETH"


def test_holders_are_those_with_a_peak_and_sorted_by_what_they_hold(
    caller: Caller, importer: Importer
) -> None:
    import_example(importer)
    importer.trades([trade(C, "buy", 30 * MINUTE, "150", "1"), trade(B, "sell", MINUTE, "1000", "9")])
    data = caller.get(HOLDERS, **OF_MINT)
    shown = [(row["profile"]["wallet_address"], row["holdings"]["token_amount"]) for row in data["holders"]]
    # Of equal quantities the one that was larger once.
    assert shown == [(A, 150), (C, 150), (B, 0)]
    assert (data["total"], data["count"], data["total_holders"]["still_holding_count"]) == (3, 3, 2)
    capped = caller.get(HOLDERS, **OF_MINT, limit=1001)
    assert capped.pop("warnings") == ["limit was capped from 1001 to 1000."]
    assert capped == data
    first = caller.get(HOLDERS, **OF_MINT, limit=1)
    assert (first["total"], first["count"], first["holders"]) == (3, 1, data["holders"][:1])


def test_pages_hold_every_trade_of_the_token_once_and_in_order(caller: Caller, database_url: str) -> None:
    ledger = random_trades.import_coinciding(Importer(database_url), 500, NOW, mints=2)
    for type in (None, *random_trades.TYPES):
        question = {"blockchain": "solana", "mint": mint_of("mint-0"), "type": type, "limit": 7}
        found = caller.pages(TRANSACTIONS, "transactions", **question)
        assert found == ledger.token_transactions(NOW, "solana", mint_of("mint-0"), type)
        page = caller.get(TRANSACTIONS, **question)
        assert len(found) == page["pagination"]["total"] > 7
        assert page.get("type") == type


def test_pagination_is_repeated_beside_data_and_a_cursor_belongs_to_its_operation(
    caller: Caller, importer: Importer
) -> None:
    import_example(importer)
    document = caller.ask(TRANSACTIONS, **OF_MINT, limit=2)
    assert list(document) == ["success", "data", "pagination", "meta"]
    assert document["pagination"] == document["data"]["pagination"]
    assert set(document["data"]["transactions"][0]).isdisjoint({"mint", "token_name"})
    cursor = document["pagination"]["next_cursor"]
    for question in (OF_MINT | {"type": "kol"}, OF_MINT | {"mint": mint_of("other")}):
        error = caller.ask(TRANSACTIONS, **question, cursor=cursor)["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "cursor")
    latest = caller.get(
        "/transactions/latest", blockchain="solana", type="kol", mint=mint_of("mint"), limit=1
    )
    cursor = latest["pagination"]["next_cursor"]
    assert caller.ask(TRANSACTIONS, **OF_MINT, type="kol", cursor=cursor)["error"]["parameter"] == "cursor"
    capped = caller.get(TRANSACTIONS, **OF_MINT, limit=1001)
    assert capped["warnings"] == ["limit was capped from 1001 to 1000."]
