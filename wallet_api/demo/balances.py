"""The balances of a wallet, as the demo's provider reports them."""

from dataclasses import dataclass

from wallet_api.chains import CHAINS
from wallet_api.demo.forms import evm_address, seeded, solana_address
from wallet_api.demo.words import SPAM


@dataclass(frozen=True)
class Balance:
    """The balance of a token: `units` are in its smallest unit. Name and symbol may be missing."""

    address: str
    name: str | None
    symbol: str | None
    decimals: int
    units: int
    verified: bool = False
    spam: bool = False


@dataclass(frozen=True)
class Portfolio:
    """The native balance in the smallest unit, and all tokens, including zero balances and spam."""

    native: int
    tokens: tuple[Balance, ...]


def native_units(chain: str, address: str) -> int:
    """Return a native balance derived from the address: from zero to a few hundred coins."""
    random = seeded("native", chain, address)
    if random.random() < 0.05:
        return 0
    coins = min(random.paretovariate(0.7) / 10, 900.0)
    # Real balances have digits down to the smallest unit.
    smallest: int = 10 ** CHAINS[chain].native_decimals
    return int(coins * 1000) * smallest // 1000 + random.randrange(smallest // 1000)


def spam(chain: str, address: str) -> tuple[Balance, ...]:
    """Return the spam tokens of a wallet."""
    random = seeded("spam", chain, address)
    make = solana_address if chain == "solana" else evm_address
    return tuple(
        Balance(make(random), name, symbol, random.choice((0, 6, 18)), random.randrange(1, 10**6), spam=True)
        for name, symbol in SPAM
        if random.random() < 0.4
    )
