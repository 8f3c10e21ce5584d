"""Made-up balances, the same for a chain and address in every run."""

from wallet_api.demo.balances import Balance, Portfolio, native_units, spam
from wallet_api.demo.forms import evm_address, seeded, solana_address


def imagined_portfolio(chain: str, address: str) -> Portfolio:
    """Return balances derived from the address."""
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
