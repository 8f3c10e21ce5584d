"""Rows of a provider that cannot be read cost no other, and are counted, logged and reported."""

import logging
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.holdings.conftest import Hold, Send, SendAt, active, evm_token, solana_token, wait_for_refreshes
from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.nodes import TOKEN_PROGRAM, token_account
from tests.stub.server import Stub
from wallet_api.database import Connection

Row = dict[str, Any]

BAD_AMOUNTS: tuple[Any, ...] = (None, "-5", "9" * 100, "1.5", "5.0", 5.5, True)
BAD_DECIMALS: tuple[Any, ...] = (None, 256, "18.0", -1)
NO_ROWS: tuple[Any, ...] = (None, [], "row")


def _bad(row: Row, amount: str, decimals: str, address: str) -> list[Any]:
    """Return rows that are bad each in one way, given the names of what a good row has."""
    return [
        *(row | {amount: value} for value in BAD_AMOUNTS),
        *(row | {decimals: value} for value in BAD_DECIMALS),
        *(row | {address: value} for value in (None, "0x123", 5)),
        *NO_ROWS,
    ]


def moralis_evm() -> tuple[Scenario, int]:
    """Respond with a page of a good token and bad ones, and return the number of those."""
    good = {"token_address": evm_token(1, 5).address, "symbol": "T", "decimals": 18, "balance": "5"}
    bad = _bad(good | {"token_address": evm_token(2, 5).address}, "balance", "decimals", "token_address")
    # One without a balance is not left out.
    empty = good | {"token_address": evm_token(3, 0).address, "balance": "0", "decimals": None}
    native = {"token_address": "0x" + "e" * 40, "native_token": True, "decimals": 18, "balance": "7"}
    return faults.document({"cursor": None, "result": [good, *bad, empty, native]}), len(bad)


def moralis_solana() -> tuple[Scenario, int]:
    """The same as a portfolio."""
    good = {"mint": solana_token(1, 5).address, "amountRaw": "5", "decimals": 6, "name": "T"}
    bad = _bad(good | {"mint": solana_token(2, 5).address}, "amountRaw", "decimals", "mint")
    empty = good | {"mint": solana_token(3, 0).address, "amountRaw": "0", "decimals": None}
    native = {"lamports": "7", "solana": "0"}
    return faults.document({"nativeBalance": native, "tokens": [good, *bad, empty], "nfts": []}), len(bad)


def alchemy() -> tuple[Scenario, int]:
    """The same as a page of hexadecimal balances, with decimals apart."""
    metadata = {"name": "T", "symbol": "T", "decimals": 18, "logo": None}
    good = {"tokenAddress": evm_token(1, 5).address, "tokenBalance": "0x5", "tokenMetadata": metadata}
    other = good | {"tokenAddress": evm_token(2, 5).address}
    bad = [
        *(other | {"tokenBalance": value} for value in (*BAD_AMOUNTS, "0xzz")),
        *(other | {"tokenMetadata": metadata | {"decimals": value}} for value in BAD_DECIMALS),
        other | {"tokenMetadata": None},
        other | {"error": "Failed to fetch"},
        *NO_ROWS,
    ]
    empty = other | {"tokenBalance": "0x0", "tokenMetadata": None}
    elsewhere = other | {"network": "opt-mainnet"}
    native = {"tokenAddress": None, "tokenBalance": "0x7", "tokenMetadata": metadata}
    tokens = [good, *bad, empty, elsewhere, native]
    return faults.document({"data": {"tokens": tokens, "pageKey": None}}), len(bad)


def node() -> tuple[Scenario, int]:
    """The same as the accounts of both token programs, of which the node could not parse some."""
    accounts: list[Any] = [
        token_account("owner", TOKEN_PROGRAM, solana_token(number, 5), 5)
        for number in range(1, 3 + len(BAD_AMOUNTS))
    ]
    for account, amount in zip(accounts[1:], BAD_AMOUNTS, strict=False):
        account["account"]["data"]["parsed"]["info"]["tokenAmount"]["amount"] = amount
    accounts[-1]["account"]["data"] = ["AAAA", "base64"]
    accounts += [{"pubkey": "account"}, None]
    values: list[Any] = [7, accounts, []]
    replies = [
        {"jsonrpc": "2.0", "id": place, "result": {"context": {"slot": 1}, "value": value}}
        for place, value in enumerate(values)
    ]
    return faults.document(replies), len(accounts) - 1


@pytest.mark.parametrize(
    ("chain", "provider", "respond"),
    [
        ("eth", "moralis", moralis_evm),
        ("solana", "moralis", moralis_solana),
        ("eth", "alchemy", alchemy),
        ("solana", "rpc", node),
    ],
)
def test_a_row_that_cannot_be_read_is_said_counted_and_logged(
    send_at: SendAt,
    track: Hold,
    stub: Stub,
    caplog: pytest.LogCaptureFixture,
    connection: Connection,
    chain: str,
    provider: str,
    respond: Any,
) -> None:
    address = track(chain)
    scenario, bad = respond()
    stub.scenarios["getBalance" if provider == "rpc" else address] = scenario
    with caplog.at_level(logging.WARNING):
        response = send_at(**{f"{chain}_provider": provider})(chain, address)
    tokens = {row["token_address"]: row["amount"] for row in active(response)["tokens"]}
    good = evm_token(1, 5) if chain == "eth" else solana_token(1, 5)
    assert tokens == {"native": "7", good.address: "5"}
    warning = f"{bad} rows of the provider could not be read: these balances are not complete."
    assert response.json["data"]["warnings"] == [warning]
    (line,) = (record.getMessage() for record in caplog.records if "left_out=" in record.getMessage())
    assert f"provider={provider} chain={chain} outcome=ok" in line
    assert f"left_out={bad} " in line
    # Another process reads the snapshot, which says the same, until a refresh reads all.
    stub.scenarios.clear()
    connection.execute("UPDATE holdings_snapshots SET refreshed_at = refreshed_at - interval '1 hour'")
    send = send_at(**{f"{chain}_provider": provider})
    stale = send(chain, address)
    assert active(stale)["stale"] is True
    assert stale.json["data"]["warnings"] == [warning]
    wait_for_refreshes()
    assert "warnings" not in send(chain, address).json["data"]


def test_the_rows_are_counted_for_the_operator_and_one_in_the_singular(
    client: FlaskClient, send: Send, track: Hold, stub: Stub
) -> None:
    many, one = track("eth"), track("solana")
    stub.scenarios[many], bad = moralis_evm()
    send("eth", many)
    metrics = client.get("/metrics").text
    assert f'holdings_rows_left_out_total{{chain="eth",provider="moralis"}} {bad}.0' in metrics
    row = {"mint": solana_token(1, 5).address, "amountRaw": None, "decimals": 6}
    balance = {"lamports": "7", "solana": "0"}
    stub.scenarios[one] = faults.document({"nativeBalance": balance, "tokens": [row], "nfts": []})
    warnings = send("solana", one).json["data"]["warnings"]
    assert warnings[0].startswith("1 row of the provider could not be read")
