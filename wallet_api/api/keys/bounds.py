"""What a key can be bound to: chains, types of wallets, and operations."""

import re
from collections.abc import Mapping, Sequence

from wallet_api.base.chains import CHAINS, GROUPS, WALLET_TYPES
from wallet_api.base.errors import CommandError

# The operations of the service are those of its routes, which are not imported here.
BOUNDS: Mapping[str, Sequence[str] | None] = {
    "chains": tuple(CHAINS),
    "types": WALLET_TYPES,
    "operations": None,
}
_OPERATION = re.compile(r"[a-z][a-z_]{0,63}")
_MOST = 100


class KeyRequestError(CommandError):
    """A key cannot be created or changed as requested; the message says why."""


def bound(name: str, words: Sequence[str] | None) -> list[str] | None:
    """Return the words of a bound as they are stored, each once, in one order; None is any.

    Raises KeyRequestError for a word that cannot be one, or without any.
    """
    if words is None:
        return None
    known = BOUNDS[name]
    wrong = [word for word in words if not (word in known if known else _OPERATION.fullmatch(word))]
    if wrong:
        allowed = f"; allowed: {', '.join(known)}, or any alone" if known else ""
        raise KeyRequestError(f"{wrong[0][:40]!r} is none of the {name}{allowed}")
    given = list(dict.fromkeys(words))
    if not 0 < len(given) <= _MOST:
        raise KeyRequestError(f"a key is bound to 1 to {_MOST} {name}, or to any")
    return given if known is None else [word for word in known if word in given]


def check_groups(chains: Sequence[str] | None, types: Sequence[str] | None) -> None:
    """Raise KeyRequestError if no group of wallets is of these chains and types; None is any."""
    if not any((not chains or chain in chains) and (not types or type in types) for chain, type in GROUPS):
        raise KeyRequestError(f"no wallets of {', '.join(chains or ())} are of type {', '.join(types or ())}")
