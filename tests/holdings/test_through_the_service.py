"""The same wallet through the whole service gives the same answer, whichever provider serves it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.holdings.conftest import Hold, evm_token, solana_token
from tests.stub.server import Stub
from wallet_api.database import Connection
from wallet_api.demo.balances import Balance
from wallet_api.settings import Settings

AskWith = Callable[..., TestResponse]


@pytest.fixture
def ask_with(settings: Settings, make_app: Callable[[Settings], Flask], api_key: str) -> AskWith:
    """Calls a service with other settings: `ask_with("eth", address, eth_provider="rpc")`."""

    def ask(chain: str, address: str, **changes: Any) -> TestResponse:
        client = make_app(replace(settings, **changes)).test_client()
        query = {"blockchain": chain, "address": address, "api_key": api_key}
        return client.get("/v1/wallets/holdings", query_string=query)

    return ask


@pytest.fixture
def trade(connection: Connection) -> Callable[[str, str, Balance], None]:
    """Lets the ledger know that a wallet has traded a token."""

    def trade(chain: str, address: str, token: Balance) -> None:
        connection.execute(
            "INSERT INTO tokens (blockchain, mint) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (chain, token.address),
        )
        connection.execute(
            """
            INSERT INTO positions (wallet_id, token_id, quantity, cost, acquired_at, peak, buy_txn, sell_txn,
                                   covered_txn, invested, sold, realized, realized_cost,
                                   first_seen, last_seen)
            SELECT wallet_id, token_id, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, now(), now()
              FROM wallets JOIN tokens USING (blockchain)
             WHERE address = %s AND mint = %s
            """,
            (address, token.address),
        )

    return trade


def rows(response: TestResponse) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    active = response.json["data"]["active_holdings"]
    assert active["loading"] is False
    assert active["count"] == len(active["tokens"])
    return list(active["tokens"])


class TestAll:
    @pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
    @pytest.mark.parametrize(
        ("chain", "currency", "name"),
        [("eth", "ETH", "Ether"), ("bnb", "BNB", "BNB"), ("base", "ETH", "Ether")],
    )
    def test_evm_balances_are_the_same_from_every_provider(
        self, ask_with: AskWith, track: Hold, trade: Any, provider: str, chain: str, currency: str, name: str
    ) -> None:
        few, many, none = evm_token(1, 5), evm_token(2, 7 * 10**18 + 1), evm_token(3, 0)
        address = track(chain, native=1234567890123456789, tokens=(few, none, many))
        for token in (few, many, none):
            trade(chain, address, token)
        found = rows(ask_with(chain, address, **{f"{chain}_provider": provider}))
        assert found == [
            {
                "token_address": "native",
                "token_name": name,
                "symbol": currency,
                "amount": "1234567890123456789",
                "amount_formatted": "1.234567890123456789",
                "decimals": 18,
                "verified_contract": True,
            },
            {
                "token_address": many.address,
                "token_name": "Token 2",
                "symbol": "T2",
                "amount": "7000000000000000001",
                "amount_formatted": "7.000000000000000001",
                "decimals": 18,
                "verified_contract": False,
            },
            {
                "token_address": few.address,
                "token_name": "Token 1",
                "symbol": "T1",
                "amount": "5",
                "amount_formatted": "0.000000000000000005",
                "decimals": 18,
                "verified_contract": False,
            },
        ]

    @pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
    def test_solana_balances_are_the_same_from_every_provider(
        self, ask_with: AskWith, track: Hold, provider: str
    ) -> None:
        few, many, none = solana_token(1, 5), solana_token(2, 7_000_001), solana_token(3, 0)
        address = track("solana", native=5999980000, tokens=(few, none, many))
        found = rows(ask_with("solana", address, solana_provider=provider))
        assert [(row["token_address"], row["amount_formatted"], row["symbol"]) for row in found] == [
            ("native", "5.99998", "SOL"),
            (many.address, "7.000001", "T2"),
            (few.address, "0.000005", "T1"),
        ]

    @pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
    @pytest.mark.parametrize("chain", ["solana", "eth"])
    def test_an_empty_wallet_has_a_native_row_of_nothing(
        self, ask_with: AskWith, track: Hold, provider: str, chain: str
    ) -> None:
        found = rows(ask_with(chain, track(chain), **{f"{chain}_provider": provider}))
        assert [(row["token_address"], row["amount"], row["amount_formatted"]) for row in found] == [
            ("native", "0", "0")
        ]

    @pytest.mark.parametrize(
        ("provider", "without"),
        [("moralis", "moralis_api_key"), ("rpc", "eth_rpc_url"), ("alchemy", "alchemy_api_key")],
    )
    def test_a_provider_without_its_key_or_url_is_unavailable(
        self, ask_with: AskWith, track: Hold, stub: Stub, provider: str, without: str
    ) -> None:
        response = ask_with("eth", track("eth"), eth_provider=provider, **{without: None})
        assert response.status_code == 503
        assert "no provider of balances set up" in response.json["error"]["message"]
        assert not stub.asked
