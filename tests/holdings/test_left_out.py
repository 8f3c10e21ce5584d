"""Rows of a provider that cannot be read are left out, counted, and reported in the response."""

import logging
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.holdings.conftest import AskAt, Hold, active, evm_token, solana_token, wait_for_refreshes
from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.nodes import TOKEN_PROGRAM, token_account
from tests.stub.server import Stub
from wallet_api.database import Connection

Row = dict[str, Any]

BAD_AMOUNTS: tuple[Any, ...] = (None, "-5", "9" * 100, "1.5")
WARNING = "4 rows of the provider could not be read: these balances are not complete."


def moralis_evm() -> Scenario:
    """Return a page with a good token, and bad ones."""
    tokens = [evm_token(number, 5) for number in range(1, 6)]
    rows: list[Row] = [
        {"token_address": token.address, "symbol": "T", "name": "T", "decimals": 18, "balance": amount}
        for token, amount in zip(tokens, ("5", *BAD_AMOUNTS), strict=True)
    ]
    rows.append(rows[0] | {"token_address": evm_token(6, 0).address, "balance": "0", "decimals": None})
    native = {"token_address": "0x" + "e" * 40, "native_token": True, "decimals": 18, "balance": "7"}
    return faults.document({"cursor": None, "result": [*rows, native]})


def moralis_solana() -> Scenario:
    """Return a portfolio with a good token, and bad ones."""
    tokens = [solana_token(number, 5) for number in range(1, 6)]
    rows = [
        {"mint": token.address, "amountRaw": amount, "decimals": 6, "name": "T", "symbol": "T"}
        for token, amount in zip(tokens, ("5", *BAD_AMOUNTS), strict=True)
    ]
    rows.append(rows[0] | {"mint": solana_token(6, 0).address, "amountRaw": "0", "decimals": None})
    return faults.document({"nativeBalance": {"lamports": "7", "solana": "0"}, "tokens": rows, "nfts": []})


def alchemy() -> Scenario:
    """Return a page with a good token, and bad ones."""
    tokens = [evm_token(number, 5) for number in range(1, 6)]
    metadata = {"name": "T", "symbol": "T", "decimals": 18, "logo": None}
    rows = [
        {"tokenAddress": token.address, "tokenBalance": amount, "tokenMetadata": metadata}
        for token, amount in zip(tokens, ("0x5", *BAD_AMOUNTS), strict=True)
    ]
    empty = {"tokenAddress": evm_token(6, 0).address, "tokenBalance": "0x0", "tokenMetadata": None}
    rows.append(empty)
    native = {"tokenAddress": None, "tokenBalance": "0x7", "tokenMetadata": metadata}
    return faults.document({"data": {"tokens": [*rows, native], "pageKey": None}})


def node(address: str) -> Scenario:
    """Return the accounts of both token programs, of which the node could not parse some."""
    accounts = [token_account(address, TOKEN_PROGRAM, solana_token(number, 5), 5) for number in range(1, 6)]
    for account, amount in zip(accounts[1:4], BAD_AMOUNTS, strict=False):
        account["account"]["data"]["parsed"]["info"]["tokenAmount"]["amount"] = amount
    accounts[4]["account"]["data"] = ["AAAA", "base64"]
    values: list[Any] = [7, accounts, []]
    return faults.document(
        [
            {"jsonrpc": "2.0", "id": place, "result": {"context": {"slot": 1}, "value": value}}
            for place, value in enumerate(values)
        ]
    )


@pytest.mark.parametrize(
    ("chain", "provider"),
    [("eth", "moralis"), ("solana", "moralis"), ("eth", "alchemy"), ("solana", "rpc")],
)
def test_a_row_that_cannot_be_read_is_said_counted_and_logged(
    ask_at: AskAt,
    track: Hold,
    stub: Stub,
    caplog: pytest.LogCaptureFixture,
    connection: Connection,
    chain: str,
    provider: str,
) -> None:
    address = track(chain)
    scenario = {"eth": moralis_evm, "solana": moralis_solana}[chain]() if provider == "moralis" else None
    key = "getBalance" if provider == "rpc" else address
    stub.scenarios[key] = scenario or (alchemy() if provider == "alchemy" else node(address))
    with caplog.at_level(logging.WARNING):
        response = ask_at(**{f"{chain}_provider": provider})(chain, address)
    assert response.json is not None
    tokens = {row["token_address"]: row["amount"] for row in active(response)["tokens"]}
    good = evm_token(1, 5) if chain == "eth" else solana_token(1, 5)
    assert tokens == {"native": "7", good.address: "5"}
    assert response.json["data"]["warnings"] == [WARNING]
    (line,) = (record.getMessage() for record in caplog.records if "left_out=" in record.getMessage())
    assert f"provider={provider} chain={chain} outcome=ok" in line
    assert "left_out=4" in line
    # Another process reads the snapshot, which says the same, until a refresh reads all.
    stub.scenarios.clear()
    connection.execute("UPDATE holdings_snapshots SET refreshed_at = refreshed_at - interval '1 hour'")
    ask = ask_at(**{f"{chain}_provider": provider})
    stale = ask(chain, address)
    assert active(stale)["stale"] is True
    assert stale.json is not None
    assert stale.json["data"]["warnings"] == [WARNING]
    wait_for_refreshes()
    fresh = ask(chain, address)
    assert fresh.json is not None
    assert "warnings" not in fresh.json["data"]


def test_one_row_is_counted_in_the_singular(ask_at: AskAt, track: Hold, stub: Stub) -> None:
    address = track("solana")
    row = {"mint": solana_token(1, 5).address, "amountRaw": None, "decimals": 6}
    balance = {"lamports": "7", "solana": "0"}
    stub.scenarios[address] = faults.document({"nativeBalance": balance, "tokens": [row], "nfts": []})
    response = ask_at()("solana", address)
    assert response.json is not None
    assert response.json["data"]["warnings"][0].startswith("1 row of the provider could not be read")


def test_the_rows_are_counted_for_the_operator(
    client: FlaskClient, ask: Any, track: Hold, stub: Stub
) -> None:
    address = track("eth")
    stub.scenarios[address] = moralis_evm()
    ask("eth", address)
    told = client.get("/metrics").text
    assert 'wallet_api_holdings_rows_left_out_total{chain="eth",provider="moralis"} 4.0' in told
