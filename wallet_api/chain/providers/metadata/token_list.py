"""The operator's list of EVM tokens, in the format of https://tokenlists.org."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address, read_decimals
from wallet_api.chain.providers.metadata.faces import Face
from wallet_api.chain.providers.parsing import clean
from wallet_api.settings import SettingsError


class _Entry(msgspec.Struct, rename="camel"):
    chain_id: int
    address: str
    name: str
    symbol: str
    decimals: int


class _List(msgspec.Struct):
    tokens: list[_Entry]


def read_token_list(path: str | None, chain: Chain) -> Mapping[str, Face]:
    """Return the listed tokens of a chain by address; none without a path. Raise SettingsError."""
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
