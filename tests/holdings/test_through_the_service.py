"""The response for a wallet is the same with every provider."""

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.holdings.conftest import AskAt, Hold, active, evm_token, solana_token, token_row
from tests.stub.moralis import Balance
from wallet_api.chains import CHAINS
from wallet_api.database import Connection


@pytest.fixture
def trade(connection: Connection) -> Callable[[str, str, Balance], None]:
    """Add to the ledger that a wallet has traded a token."""

    def trade(chain: str, address: str, token: Balance) -> None:
        connection.execute(
            "INSERT INTO tokens (blockchain, mint) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (chain, token.address),
        )
        connection.execute(
            """
            INSERT INTO positions (wallet_id, token_id, mint, quantity, cost, acquired_at, peak, buy_txn,
                                   sell_txn, covered_txn, invested, sold, realized, realized_cost,
                                   bought_tokens, sold_tokens, invested_usd, sold_usd, invested_without_usd,
                                   sold_without_usd, realized_usd, buys_without_usd, sells_without_usd,
                                   covered_without_usd, first_seen, last_seen)
            SELECT wallet_id, token_id, mint, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0,
                   1, 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), now()
              FROM wallets JOIN tokens USING (blockchain)
             WHERE address = %s AND mint = %s
            """,
            (address, token.address),
        )

    return trade


@pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
def test_a_wallet_has_the_same_response_on_every_chain(
    ask_at: AskAt, track: Hold, trade: Any, provider: str
) -> None:
    every = {f"{chain}_provider": provider for chain in CHAINS}
    for chain, name, currency in (("eth", "Ether", "ETH"), ("bnb", "BNB", "BNB"), ("base", "Ether", "ETH")):
        few, many, none = evm_token(1, 5), evm_token(2, 7 * 10**18 + 1), evm_token(3, 0)
        address = track(chain, native=1234567890123456789, tokens=(few, none, many))
        for token in (few, many, none):
            trade(chain, address, token)
        assert rows(ask_at(**every)(chain, address)) == [
            token_row("native", name, currency, 1234567890123456789, "1.234567890123456789", 18, True),
            token_row(many.address, "Token 2", "T2", 7000000000000000001, "7.000000000000000001", 18),
            token_row(few.address, "Token 1", "T1", 5, "0.000000000000000005", 18),
        ]
    few, many, none = solana_token(1, 5), solana_token(2, 7_000_001), solana_token(3, 0)
    address = track("solana", native=5999980000, tokens=(few, none, many))
    assert rows(ask_at(**every)("solana", address)) == [
        token_row("native", "Solana", "SOL", 5999980000, "5.99998", 9, True),
        token_row(many.address, "Token 2", "T2", 7000001, "7.000001", 6),
        token_row(few.address, "Token 1", "T1", 5, "0.000005", 6),
    ]


@pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
def test_an_empty_wallet_has_a_native_row_of_nothing(ask_at: AskAt, track: Hold, provider: str) -> None:
    for chain in ("solana", "eth"):
        (native,) = rows(ask_at(**{f"{chain}_provider": provider})(chain, track(chain)))
        assert (native["token_address"], native["amount"], native["amount_formatted"]) == ("native", "0", "0")


def rows(response: TestResponse) -> list[dict[str, Any]]:
    holdings = active(response)
    assert holdings["loading"] is False
    assert holdings["count"] == len(holdings["tokens"])
    return list(holdings["tokens"])
