"""Transactions of strangers that resemble trades of tracked wallets, read by `wallet-api sync trades`.

Other ways of resembling one are in tests/decoding/test_evm_rules.py.
"""

import pytest

from tests.stub.evm import EvmChain, Row, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, DOG, ETH, GAS, POOL, USDC, WALLET, buy, receipt, signature
from tests.sync.operator import Operator, addresses
from tests.sync.test_status import status

STRANGER, OTHER = f"0x{'57' * 20}", f"0x{'58' * 20}"
CURVE = "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140"
SOMETHING = log(POOL, (signature(5),))


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum, with a tracked wallet."""
    operator.environment |= stub.evm_environment("eth")
    operator.track(("eth", WALLET))
    stub.prices.hourly = lambda currency, moment: 160.0
    chain = stub.nodes.blocks["eth"] = EvmChain(decimals={CAT: 6, DOG: 18, USDC: 6})
    chain.add(now())
    return chain


def of_stranger(number: int, *logs: Row, value: int = 0, **coins: int) -> Transaction:
    """Return a transaction that a stranger sends."""
    return Transaction(receipt(number, *logs, sender=STRANGER, to=OTHER), value, coins)


def exchanged(emitter: str, got: int, gave: int) -> Row:
    """Return a log with the topic of a pool's."""
    return log(emitter, (CURVE, word(STRANGER)), 0, got, 1, gave)


def pumped(wallet: str, units: int = 10**6) -> list[Row]:
    """Return a sale of a worthless token and a buy of another one, each for 100 ether, as pools log it."""
    return [
        transfer(DOG, wallet, OTHER, ETH),
        transfer(CAT, POOL, wallet, units),
        exchanged(OTHER, ETH, 100 * ETH),
        exchanged(POOL, 100 * ETH, units),
    ]


def test_one_transaction_of_a_stranger_writes_no_trade_into_twenty_wallets(
    chain: EvmChain, operator: Operator
) -> None:
    wallets = addresses("eth", 20)
    operator.track(*(("eth", wallet) for wallet in wallets))
    logs = [each for wallet in wallets for each in pumped(wallet)]
    # Dust comes with it, from one account of the stranger, while others of his exchange what they like.
    dust = dict.fromkeys(wallets, 10**15)
    chain.add(now(), of_stranger(1, *logs, value=ETH, **dust, **{OTHER: -1000 * ETH, POOL: 1000 * ETH}))
    done = operator.sync("trades", "--chain", "eth", "--since", chain.blocks[0].created_at.isoformat())
    assert (done.status, done.only["left_out"], done.only["failed"]) == (0, 0, 0)
    assert operator.ledger() == {}
    line = next(line for line in status(operator).splitlines() if "unsigned" in line)
    assert "20" in line.split()


def test_dust_in_the_same_block_hides_no_sale(chain: EvmChain, operator: Operator) -> None:
    sale = (transfer(CAT, WALLET, POOL, 10**6), SOMETHING)
    sold = Transaction(receipt(1, *sale), 0, {WALLET: ETH - GAS})
    chain.add(now(), sold, of_stranger(2, transfer(DOG, OTHER, WALLET, 1)))
    chain.add(now(), buy(3), of_stranger(4, *pumped(WALLET, 5)))
    since = ("--since", chain.blocks[0].created_at.isoformat())
    assert operator.sync("trades", "--chain", "eth", *since).only["changed"] == 2
    assert {key[2:]: trade[:2] for key, trade in operator.ledger().items()} == {
        (signature(1), CAT, "sell"): ("1", "1"),
        (signature(3), CAT, "buy"): ("5", "1"),
    }


def test_what_a_node_cannot_show_of_a_sale_is_said(chain: EvmChain, operator: Operator) -> None:
    chain.state_blocks = 0
    sale = (transfer(CAT, WALLET, POOL, 10**6), SOMETHING)
    sold = Transaction(receipt(1, *sale), 0, {WALLET: ETH - GAS})
    chain.add(now(), sold, of_stranger(2, transfer(DOG, OTHER, WALLET, 1)))
    done = operator.sync("trades", "--chain", "eth", "--since", chain.blocks[0].created_at.isoformat())
    assert (done.status, done.only["left_out_reasons"].keys()) == (3, {"no_value"})
