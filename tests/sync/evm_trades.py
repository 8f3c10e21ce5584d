"""The simplest trades of an EVM chain: one token for the native coin, through a router and a pool."""

from datetime import timedelta
from decimal import Decimal

from tests.stub.evm import DEPOSIT, WITHDRAWAL, EvmChain, Row, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.operator import Operator
from wallet_api.base.chains import CHAINS

WRAPPED = {name: chain.wrapped_mint for name, chain in CHAINS.items()}
WETH = WRAPPED["eth"]
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
CAT, DOG = f"0x{'ca' * 20}", f"0x{'d0' * 20}"
POOL, ROUTER, FRIEND = f"0x{'ab' * 20}", f"0x{'7e' * 20}", f"0x{'f1' * 20}"
WALLET = f"0x{'1b' * 20}"
ETH = 10**18
GAS = 21_000 * 10**9
SWAP = "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"
AT = now() - timedelta(minutes=30)


def begin(stub: Stub, operator: Operator, name: str = "eth", *wallets: str) -> EvmChain:
    """Let a node have a chain without a block, from which trades of tracked wallets are read."""
    operator.environment |= stub.evm_environment(name)
    operator.environment.pop("MORALIS_API_KEY", None)
    operator.track(*((name, wallet) for wallet in wallets or (WALLET,)))
    chain = stub.nodes.blocks[name] = EvmChain(decimals={CAT: 6, DOG: 18, USDC: 6})
    return chain


def signature(number: int) -> str:
    """Return a hash of a transaction."""
    return f"0x{number:064x}"


def receipt(number: int, *logs: Row, sender: str = WALLET, to: str = ROUTER, **more: str) -> Row:
    """Return a receipt whose fee is GAS."""
    return {
        "transactionHash": signature(number),
        "from": sender,
        "to": to,
        "gasUsed": hex(21_000),
        "effectiveGasPrice": hex(10**9),
        "status": "0x1",
        "type": "0x2",
        "logs": list(logs),
    } | more


def buy(
    number: int,
    units: int = 5 * 10**6,
    coin: int = ETH,
    fee: int = 0,
    wallet: str = WALLET,
    wrapped: str = WETH,
    mint: str = CAT,
    **more: str,
) -> Transaction:
    """Return a buy of a token, CAT, for native coin, of which a router keeps `fee`."""
    logs = (
        log(wrapped, (DEPOSIT, word(ROUTER)), coin - fee),
        transfer(wrapped, ROUTER, POOL, coin - fee),
        transfer(mint, POOL, wallet, units),
        log(POOL, (SWAP, word(ROUTER), word(wallet)), coin - fee, 0, 0, units),
    )
    coins = {wallet: -coin - GAS}
    sent = receipt(number, *logs, sender=wallet, **more)
    return Transaction(sent, coin, coins, amount=Decimal(units), coin=Decimal(coin))


def sell(
    number: int,
    units: int = 10**6,
    coin: int = ETH,
    fee: int = 0,
    wallet: str = WALLET,
    wrapped: str = WETH,
    mint: str = CAT,
) -> Transaction:
    """Return a sell of a token, CAT, for native coin, of which a router keeps `fee`."""
    logs = (
        transfer(mint, wallet, POOL, units),
        transfer(wrapped, POOL, ROUTER, coin),
        log(POOL, (SWAP, word(POOL), word(ROUTER)), 0, units, coin, 0),
        log(wrapped, (WITHDRAWAL, word(ROUTER)), coin),
    )
    coins = {wallet: coin - fee - GAS}
    sent = receipt(number, *logs, sender=wallet)
    return Transaction(sent, 0, coins, amount=Decimal(units), coin=Decimal(coin - fee))
