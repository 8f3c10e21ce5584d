"""The face of demo tokens, made from their mints: symbol, name and supply."""

from collections.abc import Mapping, Sequence

from wallet_api.base.chains import Chain
from wallet_api.chain.providers.metadata.faces import Face
from wallet_api.operate.demo.forms import seeded

# As most launches have.
SUPPLY = 10**9
# fmt: off
_FIRST = (
    "Baby", "Giga", "Turbo", "Neon", "Based", "Sleepy", "Tiny", "Mega", "Cosmic", "Lucky", "Rusty", "Golden",
    "Silent", "Hyper", "Salty", "Grumpy", "Lunar", "Spicy", "Frosty", "Electric",
)
_SECOND = (
    "Pepe", "Doge", "Cat", "Frog", "Otter", "Whale", "Penguin", "Goose", "Panda", "Ape", "Fox", "Shrimp",
    "Yeti", "Wizard", "Robot", "Toaster", "Pickle", "Banana", "Noodle", "Donut", "Comet", "Ghost", "Turtle",
    "Hamster",
)
_THIRD = ("", "", "", "", " Coin", " Inu", " AI", " Hat", " DAO", " World", " King", " Club", " Lab", " Cash")
# fmt: on


def face_of(chain: Chain, mint: str) -> Face:
    """Return the face of a demo token."""
    random = seeded("face", mint)
    first, second, third = random.choice(_FIRST), random.choice(_SECOND), random.choice(_THIRD)
    decimals = decimals_of(chain)
    return Face(f"{first} {second}{third}", second.upper(), decimals, SUPPLY * 10**decimals)


def decimals_of(chain: Chain) -> int:
    """Return the decimals of each token of the chain."""
    return 18 if chain.is_evm else 6


def demo_faces(chain: Chain, mints: Sequence[str]) -> Mapping[str, Face]:
    """Return the faces of these tokens, in place of the nodes that `sync tokens` reads."""
    return {mint: face_of(chain, mint) for mint in mints}
