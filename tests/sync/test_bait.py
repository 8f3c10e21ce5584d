"""Transactions of strangers that look like trades of tracked wallets, read by `wallet-api sync trades`."""

import pytest

from tests.stub import evm
from tests.stub.evm import EvmChain, Row, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, DOG, ETH, GAS, POOL, USDC, WALLET, WETH, buy, receipt, signature
from tests.sync.operator import Operator, addresses
from tests.sync.test_status import status

STRANGER, OTHER = f"0x{'57' * 20}", f"0x{'58' * 20}"
CURVE = "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140"
OPERATION = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f"
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


def between_contracts(wallet: str) -> list[Row]:
    """Return the same without a pool's log: the stranger moves his own coin from one contract to another."""
    return [
        transfer(DOG, wallet, OTHER, ETH),
        transfer(WETH, OTHER, POOL, 10 * ETH),
        transfer(CAT, POOL, wallet, 10**6),
        SOMETHING,
    ]


def operated(wallet: str) -> list[Row]:
    """Return a buy by an operation at an entry point of the stranger."""
    topics = (OPERATION, signature(5), word(wallet), word(evm.ZERO))
    return [transfer(CAT, POOL, wallet, 10**6), log(OTHER, topics, 1, 1, 1, 9)]


def sold_for_dust(wallet: str) -> list[Row]:
    """Return a transfer from the wallet, and a cent that comes to it."""
    return [transfer(DOG, wallet, OTHER, ETH), transfer(USDC, OTHER, wallet, 10**4), SOMETHING]


@pytest.mark.parametrize(
    "make", [lambda wallet: pumped(wallet, 10**6), between_contracts, operated, sold_for_dust]
)
@pytest.mark.parametrize("has_traces", [False, True])
def test_one_transaction_of_a_stranger_writes_no_trade_into_twenty_wallets(
    chain: EvmChain, operator: Operator, make: object, has_traces: bool
) -> None:
    assert callable(make)
    wallets = addresses("eth", 20)
    operator.track(*(("eth", wallet) for wallet in wallets))
    chain.has_traces = has_traces
    logs = [each for wallet in wallets for each in make(wallet)]
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
