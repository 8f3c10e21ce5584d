"""The receipts of transactions of an EVM node, without those that cannot be read.

https://ethereum.github.io/execution-apis/
"""

import logging
from collections.abc import Mapping, Sequence

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.evm.receipts import Receipt
from wallet_api.chain.providers.faults import Broken, Malformed, ProviderFault, TooLarge
from wallet_api.chain.providers.jsonrpc import MAX_BATCH, NO_METHOD, Call, NodeResult
from wallet_api.chain.providers.trades.evm_node import (
    BEHIND,
    REPLACED,
    Blocks,
    EvmNode,
    Found,
    Remembered,
    block_call,
)

log = logging.getLogger(__name__)

# From so many transactions on, all receipts of a block are requested at once.
_MANY_RECEIPTS = 4

NO_RECEIPT = "its receipt is too large, or contradicts itself"

Receipts = dict[str, Receipt | None]
"""Receipts by transaction; None for one that cannot be read."""


class EvmReceipts:
    """The receipts of a node. It remembers whether the node has those of whole blocks."""

    def __init__(self, chain: Chain, node: EvmNode) -> None:
        self._chain = chain
        self._node = node
        self._has_block_receipts = True
        # The blocks and transactions with more receipts, or logs, than a response may have.
        self._large = Remembered()

    def receipts_and_blocks(self, found: Mapping[int, Found]) -> tuple[Receipts, Blocks] | None:
        """Return receipts() and whole() of blocks if both fit into one request, else None."""
        signatures = self._unread_receipts(found)
        receipts: list[Call] = [("eth_getTransactionReceipt", [signature]) for signature in signatures]
        if not receipts or len(receipts) + len(found) > MAX_BATCH or _has_many(found):
            return None
        results = self._node.request([*receipts, *(block_call(number, whole=True) for number in found)])
        return (
            self._read_receipts(found, signatures, results[: len(receipts)]),
            self._node.read_whole(found, results[len(receipts) :]),
        )

    def receipts(self, found: Mapping[int, Found]) -> Receipts:
        """Return the receipts of all transactions of tracked wallets in these blocks.

        None is one that is too large, is not of the documented form or contradicts itself.
        """
        receipts: Receipts = dict(self._block_receipts(found))
        missing = [signature for signature in self._unread_receipts(found) if signature not in receipts]
        results = self._node.request([("eth_getTransactionReceipt", [signature]) for signature in missing])
        return self._read_receipts(found, missing, results, receipts)

    def _unread_receipts(self, found: Mapping[int, Found]) -> list[str]:
        """Return the transactions in these blocks, without those whose receipts are too large."""
        wanted = (signature for block in found.values() for signature in block.wallets)
        return [signature for signature in wanted if signature not in self._large]

    def _read_receipts(
        self,
        found: Mapping[int, Found],
        signatures: Sequence[str],
        results: Sequence[NodeResult],
        known: Receipts | None = None,
    ) -> Receipts:
        receipts = dict(known or {})
        for signature, result in zip(signatures, results, strict=True):
            receipts[signature] = self._receipt(signature, result)
        for block in found.values():
            for signature in block.wallets:
                receipt = receipts.setdefault(signature, None)
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
        results = self._node.request([("eth_getBlockReceipts", [hex(number)]) for number in full])
        self._has_block_receipts = all(
            result.error is None or result.error.code != NO_METHOD for result in results
        )
        receipts: dict[str, Receipt] = {}
        for number, result in zip(full, results, strict=True):
            try:
                rows = result.read(list[Receipt])
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
            receipt = result.read(Receipt | None)  # type: ignore[arg-type]
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


def _has_many(found: Mapping[int, Found]) -> bool:
    """Return whether all receipts of one of these blocks are better requested at once."""
    return any(len(block.wallets) >= _MANY_RECEIPTS for block in found.values())


def _contradiction(receipt: Receipt) -> str | None:
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
