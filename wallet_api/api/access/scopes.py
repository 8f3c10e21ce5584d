"""What a key is bound to: operations, and the chains and types of the wallets that it may read."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Self

from wallet_api.base.errors import Forbidden

Words = tuple[str, ...] | None


class KeyScope(NamedTuple):
    """The chains and types of the wallets that a key may read; None is any."""

    chains: Words = None
    types: Words = None

    @classmethod
    def from_words(cls, chains: Collection[str] | None, types: Collection[str] | None) -> Self:
        """Return the scope of these words; None is any."""
        return cls(tuple(chains) if chains else None, tuple(types) if types else None)

    def has(self, blockchain: str, type: str) -> bool:
        """Return whether wallets of this chain and type are within it."""
        return blockchain in (self.chains or (blockchain,)) and type in (self.types or (type,))

    def check_type(self, type: str) -> None:
        """Raise Forbidden for a wallet of another type."""
        if self.types is not None and type not in self.types:
            raise _out_of_scope(f"it reads wallets of type {_or(self.types)}, and this one is {type}")

    def check(self, arguments: Mapping[str, Any], takes: Collection[str], names: Collection[str]) -> None:
        """Raise Forbidden unless the loaded arguments of an operation that `takes` these are within it.

        An argument among `names`, which the operation could leave out, has to be given.
        """
        for name, allowed in (("blockchain", self.chains), ("type", self.types)):
            if allowed is None or name not in takes:
                continue
            value = arguments.get(name)
            if value is None and name in names:
                raise _out_of_scope(f"add {name}={_or(allowed)}", name, allowed)
            if value is not None and value not in allowed:
                raise _out_of_scope(f"{name} must be {_or(allowed)}", name, allowed)


UNBOUND = KeyScope()


def check_operation(operation: str, allowed: Collection[str] | None) -> None:
    """Raise Forbidden for an operation that is not among those allowed; None is any."""
    if allowed is not None and operation not in allowed:
        raise _out_of_scope(f"{operation} is none of its operations, {', '.join(allowed)}")


def _out_of_scope(
    problem: str, parameter: str | None = None, allowed: Collection[str] | None = None
) -> Forbidden:
    return Forbidden(
        "out_of_scope",
        f"This API key is bound: {problem}.",
        parameter=parameter,
        allowed=None if allowed is None else list(allowed),
    )


def _or(words: Collection[str]) -> str:
    return " or ".join(words)
