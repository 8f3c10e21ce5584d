"""What the contracts of EVM tokens return of them, through Multicall3: decimals, symbol, name and supply."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cachetools import LRUCache

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import MAX_DECIMALS
from wallet_api.chain.providers.faults import Malformed, NotConfigured, TooLarge
from wallet_api.chain.providers.fetch import Fetch
from wallet_api.chain.providers.jsonrpc import Node, NodeResult
from wallet_api.chain.providers.metadata import multicall
from wallet_api.chain.providers.metadata.faces import Face
from wallet_api.chain.providers.parsing import clean
from wallet_api.chain.providers.replies import reply_quantity

_CHUNK = 200
_CACHED = 50_000
# Words of a node about a contract that failed, as opposed to the node.
_CONTRACT_WORDS = ("revert", "opcode", "out of gas", "execution")

Value = TypeVar("Value")
# A contract and the call data.
ContractCall = tuple[str, bytes]


class EvmTokens:
    """Calls contracts of tokens, and caches what never changes. Thread-safe.

    A contract that fails, or returns too much, affects no other one.
    """

    def __init__(self, chain: Chain, node: Node) -> None:
        self.chain_is_checked = False
        self._chain = chain
        self._node = node
        self._lock = threading.Lock()
        self._decimals: LRUCache[str, int] = LRUCache(_CACHED)
        self._faces: LRUCache[str, Face] = LRUCache(_CACHED)

    def check_chain(self, fetch: Fetch) -> None:
        """Raise NotConfigured if the node is one of another chain; it is requested once."""
        if not self.chain_is_checked:
            (result,) = self._node.call(fetch, [("eth_chainId", [])])
            if read_quantity(result) != self._chain.evm_chain_id:
                raise NotConfigured(f"{self._chain.name.upper()}_RPC_URL is a node of another chain")
            self.chain_is_checked = True

    def read(self, mints: Sequence[str]) -> Mapping[str, Face]:
        """Return the faces of the tokens with their supplies, without those whose decimals are unknown."""
        with self._node.fetcher.begin(self._chain.name) as fetch:
            self.check_chain(fetch)
            faces = self.faces(fetch, mints)
            returned = self.call(fetch, [(token, multicall.TOTAL_SUPPLY) for token in faces])
        supplies = zip(faces.items(), map(multicall.read_uint, returned), strict=True)
        return {token: replace(face, units=units) for (token, face), units in supplies}

    def decimals(self, fetch: Fetch, tokens: Sequence[str]) -> Mapping[str, int]:
        """Return the decimals of the tokens, without those that are unknown."""
        known, unknown = self._known(self._decimals, tokens)
        returned = self.call(fetch, [(token, multicall.DECIMALS) for token in unknown])
        read = zip(unknown, map(multicall.read_uint, returned), strict=True)
        new = {token: number for token, number in read if number is not None and number <= MAX_DECIMALS}
        return known | self._keep(self._decimals, new)

    def faces(self, fetch: Fetch, tokens: Sequence[str]) -> Mapping[str, Face]:
        """Return the decimals and names of the tokens, without those whose decimals are unknown."""
        decimals = self.decimals(fetch, tokens)
        known, unknown = self._known(self._faces, list(decimals))
        selectors = (multicall.NAME, multicall.SYMBOL)
        returned = self.call(fetch, [(token, selector) for selector in selectors for token in unknown])
        texts = [clean(multicall.read_text(data)) for data in returned]
        named = zip(unknown, texts[: len(unknown)], texts[len(unknown) :], strict=True)
        new = {token: Face(name, symbol, decimals[token]) for token, name, symbol in named}
        return known | self._keep(self._faces, new)

    def call(self, fetch: Fetch, calls: Sequence[ContractCall]) -> list[bytes | None]:
        """Return the contracts' return values; None for a contract that fails. Raise ProviderFault.

        A contract that burns all gas, or returns too much, makes the calls beside it fail too, so failed
        calls are repeated alone.
        """
        chunks = [calls[start : start + _CHUNK] for start in range(0, len(calls), _CHUNK)]
        results = self._node.call(fetch, [multicall.aggregate(chunk) for chunk in chunks])
        returned: list[bytes | None] = []
        for chunk, result in zip(chunks, results, strict=True):
            returned += multicall.read_aggregate(_returned(result) or b"", len(chunk))
        failed = [index for index, value in enumerate(returned) if value is None]
        alone = self._node.call(fetch, [multicall.call(*calls[index]) for index in failed])
        # A node that makes some calls makes all of them: other errors are then of the contracts.
        is_serving = any(result.error is None for result in (*results, *alone))
        for index, result in zip(failed, alone, strict=True):
            returned[index] = None if is_serving and result.error is not None else _returned(result)
        return returned

    def _known(
        self, cached: LRUCache[str, Value], tokens: Sequence[str]
    ) -> tuple[dict[str, Value], list[str]]:
        """Return what is cached of the tokens, and those of which nothing is."""
        with self._lock:
            known = {token: cached[token] for token in tokens if token in cached}
        return known, [token for token in tokens if token not in known]

    def _keep(self, cached: LRUCache[str, Value], new: dict[str, Value]) -> dict[str, Value]:
        with self._lock:
            cached.update(new)
        return new


def _returned(result: NodeResult) -> bytes | None:
    """Return the return value of a contract; None if it failed. Raise ProviderFault if the node failed."""
    error = result.error
    if error is not None and (
        error.is_revert
        or isinstance(error.fault, TooLarge)
        or any(word in error.message.lower() for word in _CONTRACT_WORDS)
    ):
        return None
    text = result.read(str)
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise Malformed("not a hexadecimal value") from None


def read_quantity(result: NodeResult) -> int:
    """Return the number in a result. Raise ProviderFault."""
    return reply_quantity(result.read(str))
