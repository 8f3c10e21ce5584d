"""Random swaps of wallets, and the trades that they are, computed by plain arithmetic."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import cycle, islice

from tests.stub.server import Stub
from tests.stub.swaps import Row, leg, swap
from tests.sync.operator import Key, Ledger, addresses, plain
from wallet_api.base.chains import CHAINS
from wallet_api.operate.demo.forms import evm_address, seeded, solana_address

NATIVE = {chain.name: chain.wrapped_mint for chain in CHAINS.values()}
DOLLARS = {"solana": 150, "bnb": 600, "eth": 3000, "base": 3000, "rh": 3000}
BY_CURRENCY = {CHAINS[chain].currency: float(dollars) for chain, dollars in DOLLARS.items()}

Trades = dict[tuple[str, str], tuple[Decimal, Decimal, Decimal | None]]


@dataclass
class World:
    """The rows of a provider for some wallets, and the expected ledger."""

    stub: Stub
    wallets: list[tuple[str, str]]
    expected: Ledger = field(default_factory=dict)
    bad: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(0)
        self._count = 0
        # The same at all times, so that no value depends on which of two prices was known.
        self.stub.prices.hourly = lambda currency, moment: BY_CURRENCY[currency]
        self.stub.prices.latest = dict(BY_CURRENCY)
        self._mints = {
            chain: [
                solana_address(seeded("mint", n)) if chain == "solana" else evm_address(seeded("mint", n))
                for n in range(12)
            ]
            for chain in NATIVE
        }

    def happen(self, wallet: tuple[str, str], moment: datetime) -> None:
        """Add a transaction of the wallet at `moment` to the provider."""
        for row in self.transaction(wallet, moment):
            self.stub.swaps.add(*wallet, row)

    def transaction(self, wallet: tuple[str, str], moment: datetime) -> list[Row]:
        """Return the shuffled rows of a new transaction, and add its trades to the expected ledger."""
        chain = wallet[0]
        self._count += 1
        signature = f"0x{self._count:064x}" if chain != "solana" else f"T{self._count}"
        kinds = (
            (self._single, 10),
            (self._split, 3),
            (self._hops, 3),
            (self._between, 2),
            (self._wrap, 1),
            (self._junk, 1),
        )
        (make,) = self._random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        rows, trades = make(chain, signature, moment)
        for (mint, side), (amount, value, usd) in trades.items():
            key: Key = (*wallet, signature, mint, side)
            dollars = None if usd is None else plain(usd)
            self.expected[key] = (plain(amount), plain(value), dollars, moment, f"Token {mint[:6]}")
        self._random.shuffle(rows)
        return rows

    def _single(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        mint, amount, value = self._mint(chain), self._amount(), self._amount()
        usd = value * DOLLARS[chain]
        if self._random.random() < 0.5:
            row = swap(signature, at, _leg(mint, amount), _native(chain, value), float(usd))
            return [row], {(mint, "buy"): (amount, value, usd)}
        row = swap(signature, at, _native(chain, value), _leg(mint, amount), -float(usd))
        return [row], {(mint, "sell"): (amount, value, usd)}

    def _split(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        mint = self._mint(chain)
        parts = [(self._amount(), self._amount()) for _ in range(self._random.randint(2, 4))]
        rows = [
            swap(
                *(signature, at, _leg(mint, amount), _native(chain, value), float(value * DOLLARS[chain])),
                pool=f"pool{place}",
            )
            for place, (amount, value) in enumerate(parts)
        ]
        value = sum((value for _, value in parts), Decimal(0))
        amount = sum((amount for amount, _ in parts), Decimal(0))
        return rows, {(mint, "buy"): (amount, value, value * DOLLARS[chain])}

    def _hops(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        over, mint = self._random.sample(self._mints[chain], 2)
        value, middle, amount = self._amount(), self._amount(), self._amount()
        usd = value * DOLLARS[chain]
        rows = [
            swap(signature, at, _leg(over, middle), _native(chain, value), float(usd), pool="first"),
            swap(signature, at, _leg(mint, amount), _leg(over, middle), float(usd), pool="second"),
        ]
        trades = {
            (over, "buy"): (middle, value, usd),
            (over, "sell"): (middle, value, usd),
            (mint, "buy"): (amount, value, usd),
        }
        return rows, trades

    def _between(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        bought, sold = self._random.sample(self._mints[chain], 2)
        value, received, given = self._amount(), self._amount(), self._amount()
        usd = value * DOLLARS[chain]
        row = swap(signature, at, _leg(bought, received), _leg(sold, given), float(usd))
        return [row], {(bought, "buy"): (received, value, usd), (sold, "sell"): (given, value, usd)}

    def _wrap(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        value = self._amount()
        return [swap(signature, at, _native(chain, value), _native(chain, value), 1.0)], {}

    def _junk(self, chain: str, signature: str, at: datetime) -> tuple[list[Row], Trades]:
        self.bad += 1
        row = self._random.choice((None, _leg(self._mint(chain), Decimal(0)), leg("spam", "1", "spam\0")))
        return [swap(signature, at, row, _native(chain, self._amount()), 1.0)], {}

    def _mint(self, chain: str) -> str:
        return self._random.choice(self._mints[chain])

    def _amount(self) -> Decimal:
        return Decimal(self._random.randint(1, 10**9)).scaleb(-self._random.choice((0, 3, 6)))


def make_world(stub: Stub, wallets: int, transactions: int) -> World:
    """Return a world of wallets on all chains with their transactions of the last twenty days."""
    chains = sorted(NATIVE)
    each = {chain: iter(addresses(chain, wallets)) for chain in chains}
    tracked = [(chain, next(each[chain])) for chain in islice(cycle(chains), wallets)]
    world = World(stub, tracked)
    now = datetime.now(UTC).replace(microsecond=0)
    for wallet in world.wallets:
        for number in range(transactions):
            # Not so old that a run that starts later would not reach it, not younger than the overlap.
            world.happen(wallet, now - timedelta(minutes=3 + 14 * number))
    return world


def _leg(mint: str, amount: Decimal) -> Row:
    return leg(mint, f"{amount}", f"Token {mint[:6]}")


def _native(chain: str, amount: Decimal) -> Row:
    return leg(NATIVE[chain], f"{amount}", "Wrapped")
