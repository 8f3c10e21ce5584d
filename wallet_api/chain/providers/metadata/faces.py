"""The face of a token: its symbol, name, decimals and supply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

# Responses have 18 decimals. Less is a claim of decimals that no real token makes.
_LEAST_SUPPLY = Decimal("1e-18")


@dataclass(frozen=True, slots=True)
class Face:
    """What is known of a token: its texts are empty, and its numbers None, if they are not.

    `units` is the supply in the smallest unit. `fungible`: the supply is, or may be, more than one.
    """

    name: str = ""
    symbol: str = ""
    decimals: int | None = None
    units: int | None = None
    fungible: bool = True

    @property
    def supply(self) -> Decimal | None:
        """Return the supply in whole tokens; None if it is not known, or if no figure could show it."""
        if self.units is None or self.decimals is None:
            return None
        supply = Decimal(self.units).scaleb(-self.decimals)
        return None if supply and supply < _LEAST_SUPPLY else supply


ReadFaces = Callable[[Sequence[str]], Mapping[str, Face]]
"""Returns the faces of tokens of a chain, without those of unknown decimals. Raises ProviderFault."""
