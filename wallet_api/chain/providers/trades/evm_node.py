"""What is read of an EVM node: blocks and decimals, without those that cannot be read.

https://ethereum.github.io/execution-apis/
"""

import logging
import math
import threading
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from cachetools import TTLCache

from wallet_api.base import forms
from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.evm.receipts import BlockTransaction, ChainBlock, block_of
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.faults import Broken, TooLarge
from wallet_api.chain.providers.jsonrpc import Call, Node, NodeResult
from wallet_api.chain.providers.metadata.evm import EvmTokens, read_quantity
from wallet_api.chain.providers.replies import reply_quantity

log = logging.getLogger(__name__)

# The calls under one deadline.
_CALLS = 50
_REMEMBERED = 10_000
_REMEMBER_SECONDS = 3600.0
_HOUR_SECONDS = 3600.0
# Blocks that share a second show no pace.
_LEAST_SECONDS = 0.001

BEHIND = "the node has not got as far"
REPLACED = "a block was replaced while it was read"
NO_BLOCK = "its block contradicts itself"
NOT_LISTED = "so many transfers of the wallet in the block that the node does not list them"


@dataclass(slots=True)
class Found:
    """A block with transactions of tracked wallets: its hash, and the wallets by transaction and address.

    `unlisted` are wallets with so many transfers in it that the node does not list them: some of their
    transactions may be missing.
    """

    hash: str
    wallets: dict[str, dict[str, TrackedWallet]] = field(default_factory=dict)
    unlisted: list[TrackedWallet] = field(default_factory=list)


Blocks = dict[int, ChainBlock | None]
"""Whole blocks by number; None for one that contradicts itself."""


class Remembered:
    """What is not requested again for an hour, since its response is too large. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: TTLCache[Hashable, None] = TTLCache(_REMEMBERED, _REMEMBER_SECONDS)

    def add(self, key: Hashable) -> None:
        """Remember it."""
        with self._lock:
            self._keys[key] = None

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._keys

    def values(self) -> list[Any]:
        """Return all that are remembered."""
        with self._lock:
            return list(self._keys)


class BlockPace:
    """The time from block to block: that of the chain's row, once it is measured that of the last hour."""

    def __init__(self, chain: Chain) -> None:
        self.seconds = chain.rules_on(datetime.now(UTC).date()).block_seconds
        self._measured_at = -math.inf

    @property
    def is_due(self) -> bool:
        """Return whether it was not measured in the last hour."""
        return time.monotonic() - self._measured_at > _HOUR_SECONDS

    def blocks(self, seconds: float) -> int:
        """Return how many blocks there are in a time; at least one."""
        return max(1, math.ceil(seconds / self.seconds))

    def measure(self, earlier: ChainBlock, later: ChainBlock) -> None:
        """Measure it by two blocks, unless their times cannot be."""
        self._measured_at = time.monotonic()
        with suppress(UnusableRow):
            passed = (later.created_at - earlier.created_at).total_seconds()
            count = later.place - earlier.place
            if count > 0 and passed > 0:
                self.seconds = max(_LEAST_SECONDS, passed / count)


class _Place(msgspec.Struct, rename="camel"):
    block_number: str | None = None
    block_hash: str | None = None


class EvmNode:
    """A node of one chain, and the pace of its blocks."""

    def __init__(self, chain: Chain, node: Node) -> None:
        self.pace = BlockPace(chain)
        self._chain = chain
        self._node = node
        self._tokens = EvmTokens(chain, node)
        self._form = block_of(chain.milliseconds)

    def check_chain(self) -> None:
        """Raise NotConfigured if the node is one of another chain."""
        if not self._tokens.chain_is_checked:
            with self._node.fetcher.begin(self._chain.name) as fetch:
                self._tokens.check_chain(fetch)

    def newest(self) -> int:
        """Return the number of the newest block."""
        (result,) = self.request([("eth_blockNumber", [])])
        return read_quantity(result)

    def measure_pace(self) -> None:
        """Measure the pace once an hour, unless the node does not have a block of an hour ago."""
        if not self.pace.is_due:
            return
        newest = self.newest()
        numbers = [max(0, newest - self.pace.blocks(_HOUR_SECONDS)), newest]
        results = self.request([block_call(number) for number in numbers])
        if all(result.error is None for result in results):
            earlier, later = map(self.read_if_any, results)
            if earlier is not None and later is not None:
                self.pace.measure(earlier, later)

    def block(self, number: int) -> ChainBlock:
        """Return a block without its transactions. Raise Broken if the node does not have it."""
        (block,) = self.blocks([number])
        return block

    def blocks(self, numbers: Iterable[int]) -> list[ChainBlock]:
        """Return blocks without their transactions. Raise Broken if the node does not have one."""
        results = self.request([block_call(number) for number in numbers])
        return [self.read_block(result) for result in results]

    def read_block(self, result: NodeResult) -> ChainBlock:
        """Return the block of a result. Raise Broken if the node does not have it."""
        block = self.read_if_any(result)
        if block is None:
            raise Broken(BEHIND)
        return block

    def read_if_any(self, result: NodeResult) -> ChainBlock | None:
        """Return the block of a result; None if the node does not have it."""
        return result.read(self._form | None)  # type: ignore[arg-type]

    def whole(self, found: Mapping[int, Found]) -> Blocks:
        """Return these blocks with their transactions, None for one that contradicts itself.

        One that is too large has the hashes of those that were not found. Raise Broken if one was replaced.
        """
        return self.read_whole(found, self.request([block_call(number, whole=True) for number in found]))

    def read_whole(self, found: Mapping[int, Found], results: Sequence[NodeResult]) -> Blocks:
        """Return the same from the results of the calls for them, in their order."""
        blocks: Blocks = {}
        for (number, one), result in zip(found.items(), results, strict=True):
            is_large = result.error is not None and isinstance(result.error.fault, TooLarge)
            block = self._large_block(number, one) if is_large else self.read_block(result)
            if block.hash != one.hash:
                raise Broken(REPLACED)
            blocks[number] = block
            if block_time(block) is None:
                log.warning("%s: the time of block %d cannot be", self._chain.name, number)
                blocks[number] = None
        return blocks

    def _large_block(self, number: int, found: Found) -> ChainBlock:
        calls: list[Call] = [("eth_getTransactionByHash", [signature]) for signature in found.wallets]
        known: dict[str, BlockTransaction] = {}
        for result in self.request(calls):
            if result.error is None or not isinstance(result.error.fault, TooLarge):
                row = result.read(BlockTransaction)
                known[row.hash] = row
        block = self.block(number)
        hashes = [one for one in block.transactions if isinstance(one, str)]
        return msgspec.structs.replace(block, transactions=[known.get(each, each) for each in hashes])

    def places(self, signatures: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Return number and hash of the block of each transaction that the node has in one."""
        results = self.request([("eth_getTransactionByHash", [signature]) for signature in signatures])
        places: dict[str, tuple[int, str]] = {}
        for signature, result in zip(signatures, results, strict=True):
            place = result.read(_Place | None)  # type: ignore[arg-type]
            if place is not None and place.block_number is not None and place.block_hash is not None:
                places[signature] = reply_quantity(place.block_number), place.block_hash
        return places

    def decimals(self, mints: Sequence[str]) -> dict[str, int]:
        """Return the decimals of tokens, without those that are unknown."""
        with self._node.fetcher.begin(self._chain.name) as fetch:
            return dict(self._tokens.decimals(fetch, mints))

    def request(self, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls, errors included. Raise ProviderFault."""
        results: list[NodeResult] = []
        for start in range(0, len(calls), _CALLS):
            with self._node.fetcher.begin(self._chain.name) as fetch:
                results += self._node.call(fetch, calls[start : start + _CALLS])
        return results


def block_time(block: ChainBlock) -> datetime | None:
    """Return the time of a block; None if it is no time, or ahead of now."""
    try:
        moment = block.created_at
    except UnusableRow:
        return None
    return None if moment > datetime.now(UTC) + forms.AHEAD else moment


def block_call(number: int | str, *, whole: bool = False) -> Call:
    """Return the call for a block, by its number or tag; if `whole`, with its transactions."""
    return "eth_getBlockByNumber", [hex(number) if isinstance(number, int) else number, whole]
