"""The face of a token: its symbol, name, decimals and supply; and those that the operator lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address, read_decimals
from wallet_api.chain.providers.parsing import clean
from wallet_api.settings import SettingsError

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


class _Entry(msgspec.Struct, rename="camel"):
    chain_id: int
    address: str
    name: str
    symbol: str
    decimals: int


class _List(msgspec.Struct):
    tokens: list[_Entry]


def read_token_list(path: str | None, chain: Chain) -> Mapping[str, Face]:
    """Return the tokens of a chain in a list by address; none without a path. Raise SettingsError.

    It has the format of https://tokenlists.org.
    """
    if path is None:
        return {}
    try:
        entries = msgspec.json.decode(Path(path).read_bytes(), type=_List).tokens
        return {
            read_address(chain, entry.address): Face(
                clean(entry.name), clean(entry.symbol), read_decimals(entry.decimals)
            )
            for entry in entries
            if entry.chain_id == chain.evm_chain_id
        }
    except (OSError, msgspec.DecodeError, UnusableRow) as error:
        raise SettingsError(f"EVM_TOKEN_LIST cannot be used: {error}") from error
