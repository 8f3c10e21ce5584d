"""GET /v1/wallets/connections: which wallets, in what order, within what window."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row
from wallet_api.database import Connection

pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

A = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
B = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
C = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
D = "So11111111111111111111111111111111111111112"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
UNTRACKED = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for four wallets of Solana and one of Ethereum."""
    importer = Importer(database_url)
    types = {A: "kol", B: "smart", C: "whale", D: "kol"}
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


def trade(address: str, mint: str, ago: timedelta, **fields: Any) -> Row:
    """A buy of a token, one of this wallet at that time."""
    return trade_row(address, f"{ago.total_seconds()}", NOW - ago, mint=mint_of(mint), **fields)


def connections(caller: Caller, address: str = A, **arguments: Any) -> Row:
    """The connections of a wallet of Solana."""
    return caller.get("/wallets/connections", blockchain="solana", address=address, **arguments)


def test_most_shared_tokens_come_first_then_addresses(caller: Caller, importer: Importer) -> None:
    hour = timedelta(hours=1)
    importer.trades(
        [
            *(trade(A, mint, hour, token_name=f"Name of {mint}") for mint in "xyz"),
            trade(B, "x", 2 * hour),
            trade(C, "x", 5 * hour),
            trade(C, "y", 3 * hour),
            trade(C, "other", hour),
            trade(D, "z", 4 * hour),
            trade_row(EVM, "evm", NOW - hour, blockchain="eth", mint=evm_mint_of("ab")),
        ]
    )
    data = connections(caller)
    assert (data["wallet_address"], data["blockchain"], data["type"]) == (A, "solana", "kol")
    assert (data["period"], data["token_count"], data["total"]) == ("30d", 3, 3)
    assert [row["wallet_address"] for row in data["connections"]] == [C, B, D]
    first, second, _ = data["connections"]
    assert first["shared_tokens_count"] == 2
    assert (first["overlap_score"], second["overlap_score"]) == (Decimal("0.6667"), Decimal("0.3333"))
    # By the other wallet's last trade; named as the requested wallet's trades name them.
    assert first["shared_tokens"] == [
        {"mint": mint_of("y"), "token_name": "Name of y"},
        {"mint": mint_of("x"), "token_name": "Name of x"},
    ]
    assert first["last_shared_at"] == (NOW - 3 * hour).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert (first["profile"]["type"], first["profile"]["copytrade_link"]) == ("whale", "whale")
    limited = connections(caller, limit=1)
    assert limited == data | {"connections": [first]}


def test_only_trades_of_the_last_thirty_days_connect(caller: Caller, importer: Importer) -> None:
    day = timedelta(days=1)
    importer.trades(
        [
            trade(A, "x", 29 * day),
            trade(A, "old of mine", 31 * day),
            trade(B, "x", 31 * day),
            trade(B, "old of mine", day),
            trade(C, "x", 31 * day),
            trade(C, "x", 30 * day - timedelta(hours=1)),
            # Trades up to five minutes ahead are in the ledger, but not in the window.
            trade(D, "x", NOW - datetime.now(UTC) - timedelta(minutes=4)),
        ]
    )
    data = connections(caller)
    assert (data["token_count"], data["total"]) == (1, 1)
    assert [row["wallet_address"] for row in data["connections"]] == [C]


def test_at_most_fifty_tokens_are_listed_of_all_that_are_shared(caller: Caller, importer: Importer) -> None:
    mints = [f"mint {number:02}" for number in range(60)]
    importer.trades(
        [
            trade(wallet, mint, timedelta(minutes=5 + number // 2))
            for wallet in (A, B)
            for number, mint in enumerate(mints)
        ]
    )
    (row,) = connections(caller)["connections"]
    assert (row["shared_tokens_count"], row["overlap_score"]) == (60, 1)
    assert [token["mint"] for token in row["shared_tokens"]] == [mint_of(mint) for mint in mints[:50]]


def test_a_wallet_that_never_traded_has_no_connections(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(B, "x", timedelta(hours=1))])
    data = connections(caller)
    assert (data["token_count"], data["total"], data["connections"]) == (0, 0, [])


def test_what_is_refused(caller: Caller, importer: Importer, connection: Connection) -> None:
    query = {"blockchain": "solana", "address": A}
    error = caller.ask("/wallets/connections", **query | {"address": UNTRACKED})["error"]
    assert (error["code"], error["reason"]) == ("not_found", "wallet_not_found")
    for name, value in (("type", "kol"), ("limit", "0"), ("cursor", "a"), ("period", "30d")):
        error = caller.ask("/wallets/connections", **query, **{name: value})["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", name)
