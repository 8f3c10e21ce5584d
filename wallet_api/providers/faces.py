"""The face of tokens, as nodes return it: symbol, name, decimals and supply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from wallet_api.chains import Chain
from wallet_api.providers.evm_tokens import EvmTokens, check_chain
from wallet_api.providers.jsonrpc import Node
from wallet_api.providers.solana_names import Names

# Responses have 18 decimals. Less is a claim of decimals that no real token makes.
_LEAST_SUPPLY = Decimal("1e-18")


@dataclass(frozen=True, slots=True)
class Face:
    """What a node returns of a token; None for what it does not return. The supply is in whole tokens."""

    symbol: str | None
    name: str | None
    decimals: int
    supply: Decimal | None

    @classmethod
    def of(cls, symbol: str, name: str, decimals: int, units: int | None) -> "Face":
        """Return the face with a supply of `units` in the smallest unit; None if no figure could show it."""
        supply = None if units is None else Decimal(units).scaleb(-decimals)
        if supply and supply < _LEAST_SUPPLY:
            supply = None
        return cls(symbol or None, name or None, decimals, supply)


class FaceSource(Protocol):
    """A source of the faces of one chain's tokens."""

    def read(self, mints: Sequence[str]) -> Mapping[str, Face]:
        """Return the faces of these tokens, without those of which nothing is known. Raise ProviderFault."""


class EvmFaces:
    """The contracts themselves, through Multicall3."""

    def __init__(self, chain: Chain, node: Node) -> None:
        self._chain = chain
        self._node = node
        self._tokens = EvmTokens(node)

    def read(self, mints: Sequence[str]) -> Mapping[str, Face]:
        with self._node.fetcher.begin(self._chain.name) as fetch:
            check_chain(self._chain, self._node, fetch)
            facts = self._tokens.facts(fetch, mints)
            supplies = self._tokens.supplies(fetch, list(facts))
        return {
            mint: Face.of(fact.symbol, fact.name, fact.decimals, supplies.get(mint))
            for mint, fact in facts.items()
        }


class SolanaFaces:
    """The mint accounts, and their metadata."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._names = Names(node)

    def read(self, mints: Sequence[str]) -> Mapping[str, Face]:
        with self._node.fetcher.begin("solana") as fetch:
            names = self._names.fetch(fetch, mints)
        return {
            mint: Face.of(name.symbol, name.name, name.decimals, name.supply)
            for mint, name in names.items()
            if name.decimals is not None
        }
