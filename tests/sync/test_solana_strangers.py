"""What a stranger writes to have tracked wallets of Solana buy is no trade, beside honest ones that land."""

from datetime import UTC, datetime, timedelta

from tests.decoding.solana_machine import Machine
from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.sync.operator import Operator, addresses
from tests.sync.solana import BONK, FART, SOL, WALLET, read_from

AT = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=50)
STRANGER, POOL, HOARD, DCA = (
    *("stranger", "pool", "hoard"),
    "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M",
)
UNITS = 10**6


def _row(machine: Machine, minute: int) -> Row:
    at = int((AT + timedelta(minutes=minute)).timestamp())
    return machine.result() | {"slot": at * 2, "blockTime": at, "version": 0}


def _opened_for(wallet: str, mint: str) -> Machine:
    """Return a transaction in which an account pays 1,000 SOL, and becomes one of the wallet afterwards."""
    machine = Machine((STRANGER, HOARD))
    machine.pay(HOARD, POOL, 1000 * SOL)
    machine.assign(HOARD)
    machine.open(HOARD, mint, wallet)
    machine.send(machine.tokens(POOL, mint), HOARD, UNITS, POOL)
    return machine


def _ordered_for(wallet: str) -> Machine:
    """Return a transaction in which a program's address, at the place of an escrow, pays 1,000 SOL."""
    machine = Machine((STRANGER,))
    machine.call(DCA, STRANGER, "address of a program", wallet)
    machine.call("the stranger's program", "address of a program")
    machine.pay("address of a program", POOL, 1000 * SOL)
    machine.send(machine.tokens(POOL, BONK), machine.tokens(wallet, BONK), UNITS, POOL)
    return machine


def _taken_from(wallet: str) -> Machine:
    """Return a transaction in which a delegate sells what is the wallet's."""
    machine = Machine((STRANGER,))
    machine.call("exchange")
    machine.send(machine.tokens(wallet, FART), machine.tokens(POOL, FART), UNITS, STRANGER)
    machine.pay(POOL, wallet, SOL)
    return machine


def _filled_for(wallet: str) -> Machine:
    machine = Machine((STRANGER,))
    machine.call(DCA, STRANGER, "escrow", BONK)
    machine.pay("escrow", STRANGER, SOL)
    machine.call(DCA, STRANGER, "escrow", wallet)
    machine.send(machine.tokens(STRANGER, BONK), machine.tokens(wallet, BONK), UNITS, STRANGER)
    return machine


def _bought_by(wallet: str) -> Machine:
    machine = Machine((wallet,))
    machine.call("exchange")
    machine.pay(wallet, POOL, SOL)
    machine.send(machine.tokens(POOL, FART), machine.tokens(wallet, FART), UNITS, POOL)
    return machine


def test_who_signs_nothing_buys_nothing_and_what_was_ordered_lands(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    wallets = [WALLET, *addresses("solana", 20)]
    operator.track(*(("solana", wallet) for wallet in wallets[1:]))
    for number, wallet in enumerate(wallets):
        stub.transactions.add(wallet, f"opened{number}", _row(_opened_for(wallet, BONK), 1))
        stub.transactions.add(wallet, f"ordered{number}", _row(_ordered_for(wallet), 2))
    # A real token too, of which the wallet has bought some.
    stub.transactions.add(WALLET, "bought", _row(_bought_by(WALLET), 0))
    stub.transactions.add(WALLET, "price", _row(_opened_for(WALLET, FART), 3))
    stub.transactions.add(WALLET, "filled", _row(_filled_for(WALLET), 4))
    stub.transactions.add(WALLET, "taken", _row(_taken_from(WALLET), 5))
    done = operator.sync("trades", "--chain", "solana")
    assert done.status == 0
    assert (done.only["unsigned"], done.only["left_out"]) == (1, 0)
    assert {(key[2], key[3], key[4]) for key in operator.ledger()} == {
        ("bought", FART, "buy"),
        ("filled", BONK, "buy"),
    }
    # So no price and no signal either: both are made of trades alone.
    (kept,) = operator.fetch("SELECT tx_signature FROM sync_left_out")
    assert kept["tx_signature"] == "taken"
