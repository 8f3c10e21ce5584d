"""The domain as data: which wallet types a chain has, its native currency, and the form of its addresses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import base58

WALLET_TYPES = ("kol", "smart", "whale")
CURRENCIES = ("SOL", "BNB", "ETH")

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")


def _is_solana_address(text: str) -> bool:
    return _BASE58.fullmatch(text) is not None and len(base58.b58decode(text)) == 32


def _is_evm_address(text: str) -> bool:
    return _EVM_ADDRESS.fullmatch(text) is not None


@dataclass(frozen=True)
class Chain:
    """One blockchain: its allowed wallet types, native currency, and how its addresses look and compare."""

    name: str
    types: tuple[str, ...]
    currency: str
    native_name: str
    native_decimals: int
    is_address: Callable[[str], bool]
    address_form: str
    case_sensitive: bool

    def canonical(self, text: str) -> str:
        """The stored form of an address or mint: lower case on EVM chains, unchanged on Solana."""
        return text if self.case_sensitive else text.lower()


def _evm(name: str, types: tuple[str, ...], currency: str, native_name: str) -> Chain:
    return Chain(
        name=name,
        types=types,
        currency=currency,
        native_name=native_name,
        native_decimals=18,
        is_address=_is_evm_address,
        address_form="0x followed by 40 hexadecimal digits",
        case_sensitive=False,
    )


_SOLANA = Chain(
    name="solana",
    types=("kol", "smart", "whale"),
    currency="SOL",
    native_name="Solana",
    native_decimals=9,
    is_address=_is_solana_address,
    address_form="base58 of 32 bytes",
    case_sensitive=True,
)

CHAINS: Mapping[str, Chain] = MappingProxyType(
    {
        chain.name: chain
        for chain in (
            _SOLANA,
            _evm("bnb", ("kol", "smart"), "BNB", "BNB"),
            _evm("base", ("kol", "smart"), "ETH", "Ether"),
            _evm("eth", ("kol",), "ETH", "Ether"),
        )
    }
)
