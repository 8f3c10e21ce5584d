"""Each provider over HTTP: which balances it reads from the responses of the stub."""

import json
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path
from typing import Any

import pytest

from tests.holdings.conftest import Hold, evm_token, impatient, make, read_rows, solana_token
from tests.lib.settings import changed
from tests.stub import faults
from tests.stub.moralis import Balance
from tests.stub.server import Stub
from wallet_api.base.chains import CHAINS
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.faults import Malformed, ProviderFault, TooLarge
from wallet_api.chain.providers.metadata.faces import read_token_list
from wallet_api.settings import Settings, SettingsError

Rows = list[dict[str, Any]]
Read = Callable[..., Rows]

USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"


@pytest.fixture
def own() -> dict[str, Any]:
    """The settings that the tests of a class share."""
    return {}


@pytest.fixture
def read(stub: Stub, own: dict[str, Any]) -> Read:
    """Read a wallet from the provider of the settings; according to the ledger it has traded `traded`."""
    providers: dict[str, BalanceProvider] = {}

    def read(chain: str, address: str, *, traded: tuple[Balance, ...] = (), **changes: Any) -> Rows:
        settings = changed(impatient(Settings(), stub), **own, **changes)
        if chain not in providers:
            providers[chain] = make(settings, chain)
        return read_rows(providers[chain], chain, address, traded)

    return read


def amounts(rows: Rows) -> dict[str, str]:
    """Return the amounts by token, without the native coin."""
    return {row["token_address"]: row["amount"] for row in rows[1:]}


def names(rows: Rows) -> list[tuple[str, str]]:
    return [(row["token_name"], row["symbol"]) for row in rows[1:]]


def token_list(tmp_path: Path, *tokens: Balance, chain_id: int = 1) -> str:
    entries = [
        {
            "chainId": chain_id,
            "address": token.address,
            "name": token.name,
            "symbol": token.symbol,
            "decimals": token.decimals,
        }
        for token in tokens
    ]
    path = tmp_path / "tokens.json"
    path.write_text(json.dumps({"name": "Ours", "tokens": entries}))
    return str(path)


class TestMoralis:
    @pytest.mark.parametrize(
        ("cursors", "fault", "requests"), [(repeat("again"), Malformed, 2), (count(), TooLarge, 100)]
    )
    def test_a_cursor_that_comes_again_and_pages_without_end_end_the_reading(
        self, read: Read, hold: Hold, stub: Stub, cursors: Iterator[Any], fault: type, requests: int
    ) -> None:
        address = hold("eth")
        stub.scenarios[address] = lambda: faults.document({"cursor": f"{next(cursors)}", "result": []})()
        with pytest.raises(fault):
            read("eth", address)
        assert stub.requested[address] == requests

    def test_numbers_and_flags_may_be_text(self, read: Read, hold: Hold, stub: Stub) -> None:
        address = hold("eth")
        token = evm_token(1, 5).address
        stub.scenarios[address] = faults.document(
            {
                "cursor": "",
                "result": [
                    {
                        "token_address": token,
                        "decimals": "3",
                        "balance": 1500,
                        "verified_contract": "true",
                        "possible_spam": "false",
                    },
                    {"native_token": "true", "balance": "7", "decimals": "18"},
                ],
            }
        )
        native, row = read("eth", address)
        assert native["amount"] == "7"
        assert (row["amount_formatted"], row["decimals"], row["verified_contract"]) == ("1.5", 3, True)
        assert (row["token_name"], row["symbol"]) == ("", "")

    def test_a_native_row_that_makes_no_sense_costs_all(self, read: Read, hold: Hold, stub: Stub) -> None:
        address = hold("eth")
        stub.scenarios[address] = faults.document({"result": [{"native_token": True, "balance": "much"}]})
        with pytest.raises(ProviderFault):
            read("eth", address)

    def test_text_from_the_chain_is_made_harmless(self, read: Read, hold: Hold) -> None:
        token = solana_token(1, 5, name=" A\0B\u202eC\n\u2066 ", symbol="X" * 300)
        assert names(read("solana", hold("solana", tokens=(token,)))) == [("ABC", "X" * 128)]

    def test_half_a_character_does_not_cost_the_wallet(self, read: Read, hold: Hold, stub: Stub) -> None:
        address = hold("eth")
        token = evm_token(1, 5).address
        texts = '"name":"cut \\ud83d","symbol":"\\\\ud83d \\ud83d\\ude00"'
        row = '{"token_address":"%s","decimals":0,"balance":"5",%s}'
        body = '{"result":[%s,{"native_token":true,"balance":"1"}]}' % (row % (token, texts))
        stub.scenarios[address] = faults.raw(body.encode())
        assert names(read("eth", address)) == [("cut \ufffd", "\\ud83d 😀")]

    def test_accounts_of_one_mint_are_summed(self, read: Read, hold: Hold, stub: Stub) -> None:
        address = hold("solana")
        row = {"mint": USDC, "decimals": 6, "amountRaw": "1000000", "name": "USD Coin", "symbol": "USDC"}
        accounts = [row | {"associatedTokenAddress": account} for account in ("a", "b", "b")]
        stub.scenarios[address] = faults.document(
            {"nativeBalance": {"lamports": "1"}, "tokens": accounts, "nfts": []}
        )
        assert amounts(read("solana", address)) == {USDC: "2000000"}


class TestSolanaNode:
    @pytest.fixture
    def own(self) -> dict[str, Any]:
        return {"solana_provider": "rpc"}

    def test_both_token_programs_count_and_both_kinds_of_names(
        self, read: Read, hold: Hold, stub: Stub
    ) -> None:
        old, new, nameless = solana_token(1, 30), solana_token(2, 20), solana_token(3, 10)
        stub.nodes.token_2022.add(new.address)
        stub.nodes.nameless.add(nameless.address)
        found = read("solana", hold("solana", tokens=(old, new, nameless)))
        assert names(found) == [("Token 1", "T1"), ("Token 2", "T2"), ("", "")]

    def test_accounts_of_one_mint_are_summed(self, read: Read, hold: Hold, stub: Stub) -> None:
        token = solana_token(1, 2**64 - 1)
        stub.nodes.accounts[token.address] = 3
        assert amounts(read("solana", hold("solana", tokens=(token,)))) == {token.address: str(2**64 - 1)}

    def test_nfts_and_empty_accounts_are_left_out(self, read: Read, hold: Hold, stub: Stub) -> None:
        nft, coin = solana_token(1, 1, decimals=0), solana_token(2, 1, decimals=0)
        stub.nodes.unique.add(nft.address)
        empty = solana_token(3, 0)
        found = read("solana", hold("solana", tokens=(nft, coin, empty)))
        assert amounts(found) == {coin.address: "1"}

    def test_a_node_that_refuses_batches_gets_single_calls(self, read: Read, hold: Hold, stub: Stub) -> None:
        stub.nodes.batches = False
        assert amounts(read("solana", hold("solana", tokens=(solana_token(1, 3),)))) == {
            solana_token(1, 3).address: "3"
        }

    @pytest.mark.parametrize("code", [-32005, -32016, -32603, 429, -32429, -32004, -32014, -32019])
    def test_one_call_of_a_batch_that_fails_for_a_moment_is_repeated(
        self, read: Read, hold: Hold, stub: Stub, code: int
    ) -> None:
        stub.nodes.errors["getTokenAccountsByOwner"] = [code, code]
        assert len(amounts(read("solana", hold("solana", tokens=(solana_token(1, 3),))))) == 1

    @pytest.mark.parametrize("code", [-32603, -32602, -32601, -32010, -32012, 99])
    def test_if_one_program_cannot_be_read_the_fetch_fails(
        self, read: Read, hold: Hold, stub: Stub, code: int
    ) -> None:
        # The first program's accounts come; the second's never do.
        address = hold("solana", native=1, tokens=(solana_token(1, 3),))
        stub.nodes.errors["getTokenAccountsByOwner"] = [code] * 9
        with pytest.raises(ProviderFault):
            read("solana", address)

    def test_names_that_cannot_be_read_are_empty_for_now(self, read: Read, hold: Hold, stub: Stub) -> None:
        stub.nodes.errors["getMultipleAccounts"] = [-32603] * 9
        token = solana_token(1, 3)
        assert names(read("solana", hold("solana", tokens=(token,)))) == [("", "")]
        stub.nodes.errors.clear()
        for _ in range(2):
            assert names(read("solana", hold("solana", tokens=(token,)))) == [("Token 1", "T1")]
        # What was read once is not requested again.
        assert stub.nodes.errors == {}
        before = len(stub.requests_of("getMultipleAccounts"))
        read("solana", hold("solana", tokens=(token,)))
        assert len(stub.requests_of("getMultipleAccounts")) == before

    @pytest.mark.parametrize(
        "answer",
        [
            [],
            [{"jsonrpc": "2.0", "id": 0, "result": {"value": 1}}],
            [{"jsonrpc": "2.0", "id": 0, "result": {"value": 1}}] * 3,
            [{"jsonrpc": "2.0", "id": number} for number in range(3)],
            [{"jsonrpc": "2.0", "id": number, "result": None} for number in range(3)],
            {"jsonrpc": "2.0", "id": 0, "result": "nothing"},
            7,
        ],
    )
    def test_a_batch_whose_ids_do_not_match_fails(
        self, read: Read, hold: Hold, stub: Stub, answer: Any
    ) -> None:
        address = hold("solana")
        stub.scenarios[address] = faults.document(answer)
        with pytest.raises(ProviderFault):
            read("solana", address)


class TestEvmNode:
    @pytest.fixture
    def own(self) -> dict[str, Any]:
        return {"eth_provider": "rpc"}

    def test_listed_tokens_are_verified_and_need_no_trade(
        self, read: Read, hold: Hold, tmp_path: Path
    ) -> None:
        listed, traded, unknown = evm_token(1, 9), evm_token(2, 8), evm_token(3, 7)
        address = hold("eth", tokens=(listed, traded, unknown))
        found = read("eth", address, traded=(traded,), evm_token_list=token_list(tmp_path, listed))
        assert [(row["symbol"], row["verified_contract"]) for row in found] == [
            ("ETH", True),
            ("T1", True),
            ("T2", False),
        ]

    def test_more_tokens_than_fit_into_one_call(self, read: Read, hold: Hold) -> None:
        tokens = tuple(evm_token(number, number) for number in range(1, 451))
        address = hold("eth", native=1, tokens=tokens)
        assert len(read("eth", address, traded=tokens)) == 451

    @pytest.mark.parametrize("words", ["no backend", "block range", "too many requests"])
    def test_contracts_that_fail_cost_no_other_and_are_counted(
        self, read: Read, hold: Hold, stub: Stub, caplog: pytest.LogCaptureFixture, words: str
    ) -> None:
        good, bytes32, *failing = (evm_token(number, 9 - number) for number in range(1, 7))
        empty, reverting, burning, worded = failing
        stub.nodes.bytes32.add(bytes32.address)
        stub.nodes.empty.add(empty.address)
        stub.nodes.reverting.add(reverting.address)
        stub.nodes.burning.add(burning.address)
        stub.nodes.reasons[worded.address] = words
        tokens = (*failing, bytes32, good)
        address = hold("eth", tokens=tokens)
        assert names(read("eth", address, traded=tokens)) == [("Token 1", "T1"), ("Token 2", "T2")]
        assert f"left_out={len(failing)} " in caplog.text

    def test_an_error_of_the_node_is_not_taken_for_the_contracts(
        self, read: Read, hold: Hold, stub: Stub
    ) -> None:
        token = evm_token(1, 9)
        address = hold("eth", tokens=(token,))
        stub.nodes.errors["eth_call"] = [-32000]
        with pytest.raises(ProviderFault):
            read("eth", address, traded=(token,))

    def test_a_token_without_decimals_is_left_out(self, read: Read, hold: Hold) -> None:
        token, other = evm_token(1, 9, decimals=300), evm_token(2, 5)
        address = hold("eth", tokens=(token, other))
        assert amounts(read("eth", address, traded=(token, other))) == {other.address: "5"}

    @pytest.mark.parametrize(
        "content", [None, "{}", '{"tokens": [{"chainId": 1, "address": "0x1"}]}', "<html>"]
    )
    def test_a_token_list_that_cannot_be_read_is_a_fault_of_the_settings(
        self, tmp_path: Path, content: str | None
    ) -> None:
        path = tmp_path / "list.json"
        if content is not None:
            path.write_text(content)
        with pytest.raises(SettingsError, match="EVM_TOKEN_LIST"):
            read_token_list(str(path), CHAINS["eth"])


class TestAlchemy:
    @pytest.fixture
    def own(self) -> dict[str, Any]:
        return {"eth_provider": "alchemy", "solana_provider": "alchemy"}

    @pytest.mark.parametrize("as_list", [False, True])
    def test_pages_are_read_to_the_end(self, read: Read, hold: Hold, stub: Stub, as_list: bool) -> None:
        stub.alchemy.as_list = as_list
        address = hold("eth", native=1, tokens=tuple(evm_token(number, number) for number in range(1, 251)))
        assert len(read("eth", address)) == 251
        assert stub.requested[address] == 3

    def test_errors_within_a_success_are_a_failure(self, read: Read, hold: Hold, stub: Stub) -> None:
        stub.alchemy.partial_errors = True
        with pytest.raises(ProviderFault):
            read("eth", hold("eth", native=1))
