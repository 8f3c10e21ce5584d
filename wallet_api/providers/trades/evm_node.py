"""What is read of an EVM node: receipts, blocks and decimals, without those that cannot be read.

https://ethereum.github.io/execution-apis/
"""

import logging
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from cachetools import TTLCache

from wallet_api import forms
from wallet_api.chains import Chain
from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.evm import BlockTransaction, ChainBlock, Log, Receipt
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.providers.evm_tokens import EvmTokens, check_chain, read_quantity
from wallet_api.providers.faults import Broken, Malformed, ProviderFault, TooLarge
from wallet_api.providers.jsonrpc import NO_METHOD, Call, Node, NodeResult
from wallet_api.providers.replies import reply_quantity

log = logging.getLogger(__name__)

# From so many transactions on, all receipts of a block are requested at once.
_MANY_RECEIPTS = 4
# The calls under one deadline.
_CALLS = 50
_REMEMBERED = 10_000
_REMEMBER_SECONDS = 3600.0

BEHIND = "the node has not got as far"
REPLACED = "a block was replaced while it was read"
NO_RECEIPT = "its receipt is too large, or contradicts itself"
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

    def all(self) -> list[Any]:
        """Return all that are remembered."""
        with self._lock:
            return list(self._keys)


class _Log(Log, rename="camel", kw_only=True):
    log_index: str | None = None


class _Receipt(Receipt, rename="camel", kw_only=True):
    logs: list[_Log]  # type: ignore[assignment]
    status: str | None = None


class _Place(msgspec.Struct, rename="camel"):
    block_number: str | None = None
    block_hash: str | None = None


class EvmNode:
    """A node of one chain."""

    def __init__(self, chain: Chain, node: Node) -> None:
        self._chain = chain
        self._node = node
        self._tokens = EvmTokens(node)
        self._chain_is_checked = False
        self._has_block_receipts = True
        # The blocks and transactions with more receipts, or logs, than a response may have.
        self._large = Remembered()

    def check_chain(self) -> None:
        """Raise NotConfigured if the node is one of another chain."""
        if not self._chain_is_checked:
            with self._node.fetcher.begin(self._chain.name) as fetch:
                check_chain(self._chain, self._node, fetch)
            self._chain_is_checked = True

    def newest(self) -> int:
        """Return the number of the newest block."""
        (result,) = self.request([("eth_blockNumber", [])])
        return read_quantity(result)

    def block(self, number: int) -> ChainBlock:
        """Return a block without its transactions. Raise Broken if the node does not have it."""
        (block,) = self.blocks([number])
        return block

    def blocks(self, numbers: Iterable[int]) -> list[ChainBlock]:
        """Return blocks without their transactions. Raise Broken if the node does not have one."""
        results = self.request([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
        return [_read_block(result) for result in results]

    def whole(self, found: Mapping[int, Found]) -> dict[int, ChainBlock | None]:
        """Return these blocks with their transactions, None for one that contradicts itself.

        One that is too large has the hashes of those that were not found. Raise Broken if one was replaced.
        """
        blocks: dict[int, ChainBlock | None] = {}
        results = self.request([("eth_getBlockByNumber", [hex(number), True]) for number in found])
        for (number, one), result in zip(found.items(), results, strict=True):
            is_large = result.error is not None and isinstance(result.error.fault, TooLarge)
            block = self._large_block(number, one) if is_large else _read_block(result)
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

    def receipts(self, found: Mapping[int, Found]) -> dict[str, Receipt | None]:
        """Return the receipts of all transactions of tracked wallets in these blocks.

        None is one that is too large, is not of the documented form or contradicts itself.
        """
        receipts: dict[str, Receipt | None] = dict(self._block_receipts(found))
        wanted = [signature for block in found.values() for signature in block.wallets]
        receipts |= {signature: None for signature in wanted if signature in self._large}
        missing = [signature for signature in wanted if signature not in receipts]
        results = self.request([("eth_getTransactionReceipt", [signature]) for signature in missing])
        for signature, result in zip(missing, results, strict=True):
            receipts[signature] = self._receipt(signature, result)
        for block in found.values():
            for signature in block.wallets:
                receipt = receipts[signature]
                if receipt is not None and receipt.block_hash != block.hash:
                    raise Broken(REPLACED)
        return receipts

    def _block_receipts(self, found: Mapping[int, Found]) -> dict[str, Receipt]:
        """Return the receipts of blocks with many transactions, without those that cannot be read so."""
        full = [
            number
            for number, block in found.items()
            if len(block.wallets) >= _MANY_RECEIPTS and block.hash not in self._large
        ]
        if not full or not self._has_block_receipts:
            return {}
        results = self.request([("eth_getBlockReceipts", [hex(number)]) for number in full])
        self._has_block_receipts = all(
            result.error is None or result.error.code != NO_METHOD for result in results
        )
        receipts: dict[str, Receipt] = {}
        for number, result in zip(full, results, strict=True):
            try:
                rows = result.read(list[_Receipt])
            except (Malformed, TooLarge):
                # Single ones show which of them it is.
                self._large.add(found[number].hash)
                continue
            except ProviderFault:
                if self._has_block_receipts:
                    raise
                continue
            receipts |= {row.transaction_hash: row for row in rows if _contradiction(row) is None}
        return receipts

    def _receipt(self, signature: str, result: NodeResult) -> Receipt | None:
        try:
            receipt = result.read(_Receipt | None)  # type: ignore[arg-type]
        except (Malformed, TooLarge) as fault:
            why: str | None = fault.outcome
            if isinstance(fault, TooLarge):
                self._large.add(signature)
        else:
            if receipt is None:
                raise Broken(BEHIND)
            if receipt.transaction_hash != signature:
                raise Malformed("another receipt than was requested")
            if (why := _contradiction(receipt)) is None:
                return receipt
        log.warning("%s: the receipt of %s cannot be read: %s", self._chain.name, signature, why)
        return None

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


def _read_block(result: NodeResult) -> ChainBlock:
    block = result.read(ChainBlock | None)  # type: ignore[arg-type]
    if block is None:
        raise Broken(BEHIND)
    return block


def _contradiction(receipt: _Receipt) -> str | None:
    """Return how a receipt contradicts itself, or None."""
    indexes = [log.log_index for log in receipt.logs if log.log_index is not None]
    if len(set(indexes)) < len(indexes):
        return "a log twice"
    if any(log.removed for log in receipt.logs):
        return "a removed log"
    if any(log.transaction_hash != receipt.transaction_hash for log in receipt.logs):
        return "a log of another transaction"
    if receipt.status == "0x0" and receipt.logs:
        return "logs of a reverted transaction"
    return None
