"""The wallets of a world: addresses, profiles, and the number of trades of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wallet_api.chains import CHAINS, Chain
from wallet_api.demo.forms import evm_address, seeded, solana_address
from wallet_api.demo.words import WALLET_BACKS, WALLET_FRONTS, WALLET_LABELS, WALLET_NAMES

# Shares of all wallets, in percent.
_GROUPS = (
    ("solana", "kol", 25),
    ("solana", "smart", 20),
    ("solana", "whale", 10),
    ("bnb", "kol", 10),
    ("bnb", "smart", 8),
    ("base", "kol", 9),
    ("base", "smart", 8),
    ("eth", "kol", 10),
)

_STEEPNESS = 1.1
_KOL_CHAINS = ("solana", "bnb", "base", "eth", "evm")


@dataclass(frozen=True)
class Wallet:
    """A tracked wallet: `index` is its number in the world, `trades` the number of its trades."""

    index: int
    chain: Chain
    type: str
    address: str
    trades: int
    name: str
    image_url: str
    twitter: str
    telegram: str
    copytrade_link: str

    def row(self) -> dict[str, Any]:
        """Return the wallet as a row of a wallets file."""
        return {
            "blockchain": self.chain.name,
            "type": self.type,
            "wallet_address": self.address,
            "name": self.name,
            "image_url": self.image_url,
            "twitter": self.twitter,
            "telegram": self.telegram,
            "copytrade_link": self.copytrade_link,
        }


def make_wallets(count: int, trades: int, seed: int) -> list[Wallet]:
    """Return `count` wallets of all groups, which make `trades` trades together."""
    groups = list(_members(count))
    shares = _heavy_tail(count, trades, seed)
    return [
        _wallet(index, chain, type_, number, shares[index], seed)
        for index, (chain, type_, number) in enumerate(groups)
    ]


def _members(count: int) -> Iterator[tuple[str, str, int]]:
    """Yield chain, type and number within the group of each wallet. Every group gets one first."""
    sizes = [1 if place < count else 0 for place in range(len(_GROUPS))]
    for _ in range(count - sum(sizes)):
        # The next wallet goes to the group furthest below its share.
        place = min(range(len(_GROUPS)), key=lambda place: sizes[place] / _GROUPS[place][2])
        sizes[place] += 1
    for (chain, type_, _), size in zip(_GROUPS, sizes, strict=True):
        yield from ((chain, type_, number) for number in range(size))


def _heavy_tail(count: int, trades: int, seed: int) -> list[int]:
    """Return the number of trades of each wallet, `trades` in all: a few wallets make most of them."""
    each = 1 if trades >= count else 0
    ranks = list(range(1, count + 1))
    seeded(seed, "ranks").shuffle(ranks)
    whole = sum(rank**-_STEEPNESS for rank in ranks)
    shares = []
    given, due = 0, 0.0
    for rank in ranks:
        due += (trades - each * count) * rank**-_STEEPNESS / whole
        shares.append(each + int(due) - given)
        given = int(due)
    shares[ranks.index(1)] += trades - sum(shares)
    return shares


def _wallet(index: int, chain_name: str, type_: str, number: int, trades: int, seed: int) -> Wallet:
    chain = CHAINS[chain_name]
    # An EVM address is the same on all EVM chains: a third of the KOLs of base are also KOLs of eth.
    twin = type_ == "kol" and chain_name in ("base", "eth") and number % 3 == 0
    random = seeded(seed, "wallet", "evm" if twin else chain_name, type_, number)
    address = solana_address(random) if chain_name == "solana" else evm_address(random)
    kol = type_ == "kol"
    if kol:
        name = _name(number + 500 * _KOL_CHAINS.index("evm" if twin else chain_name))
    else:
        name = f"{random.choice(WALLET_LABELS)} {number + 1}" if random.random() < 0.15 else ""
    handle = "".join(letter for letter in name if letter.isalnum())
    copied = kol or random.random() < 0.2
    return Wallet(
        index=index,
        chain=chain,
        type=type_,
        address=address,
        trades=trades,
        name=name,
        image_url=f"https://images.example/{handle.lower()}.png" if name else "",
        twitter=f"https://x.example/{handle}" if kol and random.random() < 0.95 else "",
        telegram=f"https://t.example/{handle.lower()}" if kol and random.random() < 0.5 else "",
        copytrade_link=f"https://copytrade.example/{chain_name}/{address}" if copied else "",
    )


def _name(place: int) -> str:
    """Return a different name for each place, for the first few thousand places."""
    # The stride has no factor in common with the number of combinations, so it visits all in a mixed order.
    rest, front = divmod(
        place * 1009 % (len(WALLET_FRONTS) * len(WALLET_NAMES) * len(WALLET_BACKS)), len(WALLET_FRONTS)
    )
    back, middle = divmod(rest, len(WALLET_NAMES))
    return f"{WALLET_FRONTS[front]}{WALLET_NAMES[middle]}{WALLET_BACKS[back]}"
