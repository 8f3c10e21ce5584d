"""One tracked Solana wallet, the tokens it trades, and its simplest trade."""

from datetime import datetime

from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.stub.transactions import WRAPPED, Move, transaction
from tests.sync.operator import Operator

USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
FART = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
BONK = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"
WALLET = "9Mt5Z4k49NYa1va4i91nziJURWS1KmkVMxSd6BiLhESL"
SOL = 10**9


def read_from(stub: Stub, operator: Operator) -> None:
    """Track the wallet, and let the commands read Solana's trades from the node, and nothing from Moralis."""
    stub.nodes.names = {FART: "Fartcoin", USDC: "USD Coin"}
    operator.environment |= stub.node_environment
    del operator.environment["MORALIS_API_KEY"]
    operator.track(("solana", WALLET))


def own(mint: str | None, change: int, **how: bool) -> Move:
    """Return what the wallet gained or lost."""
    return Move(WALLET, mint, change, **how)


def pool(mint: str | None, change: int, name: str = "pool") -> Move:
    """Return what another owner gained or lost."""
    return Move(name, mint, change)


def buy(
    at: datetime, units: int = 10**6, lamports: int = SOL, wallet: str = WALLET, err: object = None
) -> Row:
    """Return the moves of a simple buy of FART for SOL."""
    paid, got = Move(wallet, None, -lamports), Move(wallet, FART, units)
    return transaction(at, wallet, paid, got, pool(WRAPPED, lamports), pool(FART, -units), err=err)
