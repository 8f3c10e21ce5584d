"""What a wallet exchanged in a transaction, and with whom: by owner, on every chain."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from wallet_api.decoding.amounts import UnusableRow

# The largest part of an amount that fees in the token itself may make up.
FEES = 5

# By how much of it amounts may differ that are not all seen.
_SEEN = 20

# Balance changes in the smallest unit by token; None is the native coin.
Changes = Counter[str | None]


class Transfer(NamedTuple):
    """Units of a token, or (None) of the native coin, that moved from one owner to another."""

    giver: str
    taker: str
    mint: str | None
    units: int


@dataclass(frozen=True, slots=True)
class Moves:
    """What a wallet exchanged, and with whom.

    `tokens` are what it exchanged of each token, `coin` is the change in its native coin, without the network
    fee and rent. `exchangers` are the changes of those that gave one thing for another. `passed_on` are the
    tokens that for the most part came from others, or went to others, without anything in exchange.
    `partly_seen` are tokens of which others may have moved more than is known.
    """

    tokens: Mapping[str, int]
    coin: int
    exchangers: list[Changes]
    decimals: Mapping[str, int]
    passed_on: set[str]
    partly_seen: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        mine: Changes,
        exchangers: list[Changes],
        one_way: Mapping[str, int],
        decimals: Mapping[str, int],
    ) -> Self:
        """Return what was exchanged of `mine`, the changes of the wallet, without what came or went one way.

        Raise UnusableRow.
        """
        passed_on = {mint: units for mint, units in one_way.items() if abs(units) * FEES > abs(mine[mint])}
        tokens = {
            mint: units
            for mint in mine.keys() | passed_on.keys()
            if mint is not None and (units := mine[mint] - passed_on.get(mint, 0))
        }
        if tokens.keys() - decimals.keys():
            raise UnusableRow("a token of unknown decimals")
        return cls(tokens, mine[None], exchangers, decimals, set(passed_on))

    def exchanged(self, mint: str | None) -> int:
        """Return what the exchangers gained of it."""
        return sum(other[mint] for other in self.exchangers)


def agrees(one: int, other: int, part: int = _SEEN) -> bool:
    """Return whether two amounts differ by at most a twentieth (or a fifth, FEES) of the larger one."""
    return abs(one - other) * part <= max(abs(one), abs(other))


def exchanges(changes: Changes) -> bool:
    """Return whether an owner with these changes gave one thing for another."""
    return any(units < 0 for units in changes.values()) and any(units > 0 for units in changes.values())


def one_way(
    transfers: Iterable[Transfer], wallet_owners: Collection[str], others: Mapping[str, Changes]
) -> Counter[str]:
    """Return what the wallet received of each token, less what it sent, without anything in exchange.

    That is what moved directly between the wallet and an owner whose balance changed in the other direction.
    `others` are the changes of those that exchanged nothing.
    """
    direct: Counter[tuple[str, str, bool]] = Counter()
    for giver, taker, mint, units in transfers:
        if (giver in wallet_owners) != (taker in wallet_owners) and mint is not None:
            is_gain = taker in wallet_owners
            direct[(giver if is_gain else taker, mint, is_gain)] += units
    moved: Counter[str] = Counter()
    for (owner, mint, is_gain), units in direct.items():
        change = others.get(owner, Counter())[mint]
        if is_gain and change < 0:
            moved[mint] += min(units, -change)
        elif not is_gain and change > 0:
            moved[mint] -= min(units, change)
    return moved
