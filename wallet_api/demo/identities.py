"""Who is tracked in the world: addresses and profiles, and how many trades each wallet makes."""

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
    """A tracked wallet. `index` counts all wallets of the world, `trades` is how many it makes."""

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
        """The wallet as a row of a wallets file."""
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
    """`count` wallets over all groups, who make `trades` trades together."""
    groups = list(_members(count))
    shares = _heavy_tail(count, trades, seed)
    return [
        _wallet(index, chain, type_, number, shares[index], seed)
        for index, (chain, type_, number) in enumerate(groups)
    ]


def _members(count: int) -> Iterator[tuple[str, str, int]]:
    """Chain, type and number within the group of each wallet: one of each group first, as far as they go."""
    sizes = [1 if place < count else 0 for place in range(len(_GROUPS))]
    for _ in range(count - sum(sizes)):
        # The group that is furthest below its share.
        place = min(range(len(_GROUPS)), key=lambda place: sizes[place] / _GROUPS[place][2])
        sizes[place] += 1
    for (chain, type_, _), size in zip(_GROUPS, sizes, strict=True):
        yield from ((chain, type_, number) for number in range(size))


def _heavy_tail(count: int, trades: int, seed: int) -> list[int]:
    """How many trades each wallet makes, `trades` in all: a few make most of them."""
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
    # People use one address on all EVM chains: here a third of base's KOLs are also eth's.
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
    """A different name for each place, until the words run out after some thousands."""
    # The stride shares no factor with the number of combinations, so all are visited in a mixed order.
    rest, front = divmod(
        place * 1009 % (len(WALLET_FRONTS) * len(WALLET_NAMES) * len(WALLET_BACKS)), len(WALLET_FRONTS)
    )
    back, middle = divmod(rest, len(WALLET_NAMES))
    return f"{WALLET_FRONTS[front]}{WALLET_NAMES[middle]}{WALLET_BACKS[back]}"
