"""Changes of balances in smallest units, and what is true of them on every chain."""

from collections import Counter
from collections.abc import Iterable

NO_EXCHANGE = "a token and coin, or two tokens, moved, but not in exchange"
ELSEWHERE = "the proceeds went to another account"
DISAGREES = "others moved another amount than the wallet"
UNCLEAR = "several tokens whose separate prices are unclear"

# What was both bought and sold of a token, as a multiple of what is left of it.
ROUND_TRIP = 2

# The largest part of an amount that fees in the token itself may make up.
FEES = 5

# The largest part of the coin of a route that may be left over.
LEFTOVER = 100

# By how much of it amounts may differ that are not all seen.
_SEEN = 20

# Balance changes in the smallest unit by token; None is the native coin.
Changes = Counter[str | None]


def agrees(one: int, other: int, part: int = _SEEN) -> bool:
    """Return whether two amounts differ by at most a twentieth (or a fifth, FEES) of the larger one."""
    return abs(one - other) * part <= max(abs(one), abs(other))


def is_exchange(changes: Changes) -> bool:
    """Return whether an owner with these changes gave one thing for another."""
    return any(units < 0 for units in changes.values()) and any(units > 0 for units in changes.values())


def added(changes: Iterable[Changes]) -> Changes:
    """Return the sum of changes."""
    total: Changes = Counter()
    for each in changes:
        total.update(each)
    return total
