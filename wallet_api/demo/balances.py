"""What a wallet holds: the balances that the stand-in provider answers with."""

from dataclasses import dataclass

from wallet_api.chains import CHAINS
from wallet_api.demo.forms import evm_address, seeded, solana_address
from wallet_api.demo.words import SPAM


@dataclass(frozen=True)
class Balance:
    """`units` of a token in its smallest unit. Name and symbol are whatever the token's maker wrote."""

    address: str
    name: str | None
    symbol: str | None
    decimals: int
    units: int
    verified: bool = False
    spam: bool = False


@dataclass(frozen=True)
class Portfolio:
    """All of a wallet: native balance in the smallest unit, and tokens, empty ones and spam included."""

    native: int
    tokens: tuple[Balance, ...]


def native_units(chain: str, address: str) -> int:
    """A native balance made up from the address alone: from nothing at all to a few hundred coins."""
    random = seeded("native", chain, address)
    if random.random() < 0.05:
        return 0
    coins = min(random.paretovariate(0.7) / 10, 900.0)
    # Down to the last unit, so that balances have all the digits that real ones have.
    smallest: int = 10 ** CHAINS[chain].native_decimals
    return int(coins * 1000) * smallest // 1000 + random.randrange(smallest // 1000)


def spam(chain: str, address: str) -> tuple[Balance, ...]:
    """The tokens that advertisers have pushed into the wallet."""
    random = seeded("spam", chain, address)
    make = solana_address if chain == "solana" else evm_address
    return tuple(
        Balance(make(random), name, symbol, random.choice((0, 6, 18)), random.randrange(1, 10**6), spam=True)
        for name, symbol in SPAM
        if random.random() < 0.4
    )


def imagined_portfolio(chain: str, address: str) -> Portfolio:
    """Balances made up from the address alone, for a wallet that nothing else is known about."""
    random = seeded("tokens", chain, address)
    make = solana_address if chain == "solana" else evm_address
    tokens = []
    for _ in range(random.randint(3, 40)):
        decimals = random.choice((0, 2, 6, 6, 6, 8, 9, 18, 18))
        units = 0 if random.random() < 0.1 else random.randrange(1, 10 ** (decimals + 6))
        symbol = "".join(random.choices("ABCDEFGHKLMNOPRSTUVWXYZ", k=random.randint(3, 6)))
        known = random.random() < 0.9
        tokens.append(
            Balance(
                make(random),
                symbol.title() if known else None,
                symbol if known else None,
                decimals,
                units,
                verified=random.random() < 0.3,
            )
        )
    return Portfolio(native_units(chain, address), (*tokens, *spam(chain, address)))
