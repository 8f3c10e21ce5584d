"""`wallet-api sync tokens`: the face of tokens, from nodes of all chains."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests.ledger.rows import trade_row
from tests.stub import faults
from tests.stub.evm import EvmChain, now
from tests.stub.server import Stub
from tests.sync.operator import Operator

SOLANA_MINT = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
CAT, DOG = f"0x{'ca' * 20}", f"0x{'d0' * 20}"
FACES = """
SELECT mint, symbol, name, decimals, supply
  FROM token_faces
  JOIN tokens USING (token_id)
 ORDER BY mint DESC
"""


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """Traded tokens of two chains, and their nodes."""
    operator.fetch("DELETE FROM token_faces RETURNING 1")
    operator.environment |= stub.node_environment | stub.evm_environment("eth")
    stub.nodes.names = {SOLANA_MINT: "Fartcoin", CAT: "Cat"}
    stub.nodes.blocks["eth"] = EvmChain(decimals={CAT: 6}, supplies={CAT: 123_456_789})
    wallets = {"solana": SOLANA_MINT, "eth": f"0x{'12' * 20}"}
    operator.track(*wallets.items())
    operator.trades(
        trade_row(wallets[chain], f"of-{mint}", now() - timedelta(minutes=5), blockchain=chain, mint=mint)
        for chain, mint in (("solana", SOLANA_MINT), ("eth", CAT), ("eth", DOG))
    )


def test_it_reads_new_tokens_and_later_their_supply(stub: Stub, operator: Operator) -> None:
    trades = operator.fetch("SELECT * FROM trades ORDER BY tx_signature")
    done = operator.sync("tokens")
    assert (done.status, done.only["read"], done.only["unknown"]) == (0, 2, 1)
    assert operator.fetch(FACES) == [
        {"mint": SOLANA_MINT, "symbol": "SYM", "name": "Fartcoin", "decimals": 6, "supply": Decimal(10**9)},
        {"mint": DOG, "symbol": None, "name": None, "decimals": None, "supply": None},
        {"mint": CAT, "symbol": "CAT", "name": "Cat", "decimals": 6, "supply": Decimal("123.456789")},
    ]
    # A name that arrives corrects no trade.
    assert operator.fetch("SELECT * FROM trades ORDER BY tx_signature") == trades
    calls = len(stub.calls)
    assert operator.sync("tokens").only["read"] == 0
    assert len(stub.calls) == calls
    operator.fetch("UPDATE token_faces SET tried_at = tried_at - interval '25 hours' RETURNING 1")
    stub.nodes.blocks["eth"].supplies[CAT] = 5 * 10**6
    assert operator.sync("tokens", "--chain", "eth").only["read"] == 1
    assert operator.fetch("SELECT supply FROM token_faces WHERE symbol = 'CAT'") == [{"supply": 5}]


def test_a_supply_too_small_to_be_shown_is_unknown(stub: Stub, operator: Operator) -> None:
    stub.nodes.blocks["eth"] = EvmChain(decimals={CAT: 255}, supplies={CAT: 2**255})
    operator.sync("tokens")
    (cat,) = (row for row in operator.fetch(FACES) if row["mint"] == CAT)
    assert (cat["decimals"], cat["supply"]) == (255, None)


@pytest.mark.parametrize("words", ["no backend", "query returned more than 1 results", "too many requests"])
def test_a_token_that_reverts_with_the_words_of_a_node_fails_no_other(
    stub: Stub, operator: Operator, words: str
) -> None:
    stub.nodes.reasons[DOG] = words
    done = operator.sync("tokens", "--chain", "eth")
    assert (done.status, done.only["read"], done.only["unknown"]) == (0, 1, 1)


def test_a_name_that_is_too_large_is_none_and_fails_no_other(stub: Stub, operator: Operator) -> None:
    stub.nodes.blocks["eth"].decimals[DOG] = 18
    stub.nodes.names[DOG] = "x" * 17_000_000
    done = operator.sync("tokens", "--chain", "eth")
    assert (done.status, done.only["read"]) == (0, 2)
    rows = {row["mint"]: (row["name"], row["decimals"]) for row in operator.fetch(FACES)}
    assert (rows[CAT], rows[DOG]) == (("Cat", 6), (None, 18))


def test_a_node_that_fails_does_not_stop_the_others(stub: Stub, operator: Operator) -> None:
    stub.scenarios["eth_chainId"] = faults.status(400)
    done = operator.sync("tokens")
    assert (done.status, done.only["read"], done.only["failures"]) == (3, 1, ["eth rejected"])
    printed = operator.run("sync", "tokens").stdout
    assert ": 0 faces of tokens read; failed: eth rejected; " in printed
    del stub.scenarios["eth_chainId"]
    printed = operator.run("sync", "tokens").stdout
    assert ": 1 faces of tokens read; 1 without one; " in printed


def test_without_a_node_it_says_so(operator: Operator) -> None:
    for name in list(operator.environment):
        if name.endswith("_RPC_URL"):
            del operator.environment[name]
    of_one, of_all = operator.sync("tokens", "--chain", "eth"), operator.sync("tokens")
    assert "Error: ETH_RPC_URL is not set; it names the node of eth" in of_one.text
    assert "Error: no node is configured" in of_all.text
    assert (of_one.status, of_all.status) == (1, 1)
