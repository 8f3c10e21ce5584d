"""GET /v1/wallets/connections: which wallets, in what order, within what window."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row

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


def test_the_limit_cuts_the_connections_and_fifty_their_tokens(caller: Caller, importer: Importer) -> None:
    mints = [f"mint {number:02}" for number in range(60)]
    importer.trades(
        [
            *(
                trade(wallet, mint, timedelta(minutes=5 + number // 2))
                for wallet in (A, B)
                for number, mint in enumerate(mints)
            ),
            *(trade(wallet, mints[0], timedelta(hours=1)) for wallet in (D, C)),
        ]
    )
    data = connections(caller)
    assert (data["period"], data["token_count"], data["total"]) == ("30d", 60, 3)
    assert [row["wallet_address"] for row in data["connections"]] == [B, C, D]
    first = data["connections"][0]
    assert (first["shared_tokens_count"], first["overlap_score"]) == (60, 1)
    assert [token["mint"] for token in first["shared_tokens"]] == [mint_of(mint) for mint in mints[:50]]
    assert connections(caller, limit=1) == data | {"connections": [first]}


def test_a_wallet_that_never_traded_has_no_connections(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(B, "x", timedelta(hours=1))])
    data = connections(caller)
    assert (data["token_count"], data["total"], data["connections"]) == (0, 0, [])
