"""Names of Solana tokens: from the Token-2022 mint itself, else from its Metaplex account.

https://spl.solana.com/token-2022/extensions#metadata and
https://developers.metaplex.com/token-metadata/token-standard.
"""

import base64
import binascii
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

import msgspec
from cachetools import LRUCache
from solders.pubkey import Pubkey

from wallet_api.chain.decoding.amounts import UnusableRow, read_amount, read_decimals
from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.providers.fetch import Fetch
from wallet_api.chain.providers.jsonrpc import Content, Node
from wallet_api.chain.providers.metadata.faces import Face
from wallet_api.chain.providers.parsing import clean, read_row

# A call accepts 100 accounts; a mint and its metadata are two.
_MINTS_A_CALL = 50
# Later fetches complete the names of a very large wallet.
MAX_LOOKUPS = 1000
_CACHED_NAMES = 50_000

_METAPLEX = Pubkey.from_string("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
_METADATA_KEY = 4
_FUNGIBLE_STANDARDS = (1, 2)
_UNKNOWN = Face(fungible=False)


class AtSlot(msgspec.Struct, Generic[Content]):
    """The value of a result that states its slot too."""

    value: Content


class SolanaTokens:
    """Fetches the faces of mints, and caches their names. Thread-safe."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._known: LRUCache[str, Face] = LRUCache(_CACHED_NAMES)

    def look_up(self, fetch: Fetch, mints: Sequence[str]) -> dict[str, Face]:
        """Return the names of the mints; without those that could not be fetched."""
        with self._lock:
            names = {mint: self._known[mint] for mint in mints if mint in self._known}
        unknown = [mint for mint in mints if mint not in names][:MAX_LOOKUPS]
        try:
            fetched = self._fetch(fetch, unknown)
        except ProviderFault as fault:
            fetch.remark = f"names: {fault.outcome}"
            return names
        with self._lock:
            self._known.update(fetched)
        return names | fetched

    def read(self, mints: Sequence[str]) -> Mapping[str, Face]:
        """Return the faces of the mints as they are now, without those whose decimals are unknown."""
        with self._node.fetcher.begin("solana") as fetch:
            faces = self._fetch(fetch, mints)
        return {mint: face for mint, face in faces.items() if face.decimals is not None}

    def _fetch(self, fetch: Fetch, mints: Sequence[str]) -> dict[str, Face]:
        groups = [mints[start : start + _MINTS_A_CALL] for start in range(0, len(mints), _MINTS_A_CALL)]
        calls: list[tuple[str, list[Any]]] = []
        for group in groups:
            addresses = [*group, *(metadata_address(mint) for mint in group)]
            calls.append(("getMultipleAccounts", [addresses, {"encoding": "jsonParsed"}]))
        fetched: dict[str, Face] = {}
        for group, result in zip(groups, self._node.call(fetch, calls), strict=True):
            accounts = result.read(AtSlot[list[msgspec.Raw]]).value
            if len(accounts) == 2 * len(group):
                pairs = zip(accounts[: len(group)], accounts[len(group) :], strict=True)
                fetched |= {mint: _name(*pair) for mint, pair in zip(group, pairs, strict=True)}
        return fetched


def metadata_address(mint: str) -> str:
    """Return the address of a mint's Metaplex metadata, which is derived from the mint."""
    seeds = [b"metadata", bytes(_METAPLEX), bytes(Pubkey.from_string(mint))]
    address, _ = Pubkey.find_program_address(seeds, _METAPLEX)
    return str(address)


def _name(mint: msgspec.Raw, metadata: msgspec.Raw) -> Face:
    token_2022 = _read_mint(mint)
    metaplex = _read_metadata(metadata)
    return replace(
        token_2022,
        name=token_2022.name or metaplex.name,
        symbol=token_2022.symbol or metaplex.symbol,
        fungible=token_2022.fungible or metaplex.fungible,
    )


def _read_mint(raw: msgspec.Raw) -> Face:
    try:
        info = read_row(raw)["data"]["parsed"]["info"]
        supply = read_amount(info["supply"])
        states = {extension["extension"]: extension.get("state") for extension in info.get("extensions", ())}
        state = states.get("tokenMetadata") or {}
        names = (clean(state.get("name")), clean(state.get("symbol")))
        return Face(*names, read_decimals(info["decimals"]), supply, supply > 1)
    except (UnusableRow, KeyError, TypeError, AttributeError):
        return _UNKNOWN


def _read_metadata(raw: msgspec.Raw) -> Face:
    try:
        data = base64.b64decode(read_row(raw)["data"][0], validate=True)
        return read_metaplex(data)
    except (UnusableRow, KeyError, TypeError, IndexError, binascii.Error, struct.error):
        return _UNKNOWN


def read_metaplex(data: bytes) -> Face:
    """Return the name in a Metaplex account, where NULs pad it. Raise struct.error or IndexError."""
    if data[0] != _METADATA_KEY:
        return _UNKNOWN
    offset = 1 + 32 + 32
    texts = []
    for _ in ("name", "symbol", "uri"):
        (length,) = struct.unpack_from("<I", data, offset)
        texts.append(data[offset + 4 : offset + 4 + length].decode("utf-8", "replace"))
        offset += 4 + length
    name, symbol, _ = texts
    return Face(clean(name), clean(symbol), fungible=_standard(data, offset) in _FUNGIBLE_STANDARDS)


def _standard(data: bytes, offset: int) -> int | None:
    """Return the token standard, the last field after the texts; None in older accounts."""
    try:
        offset += 2
        if data[offset]:
            (creators,) = struct.unpack_from("<I", data, offset + 1)
            offset += 4 + 34 * creators
        offset += 1 + 2
        offset += 2 if data[offset] else 1
        return data[offset + 1] if data[offset] else None
    except (IndexError, struct.error):
        return None
