"""The receipts of transactions of an EVM node, without those that cannot be read.

https://ethereum.github.io/execution-apis/
"""

import logging
from collections.abc import Mapping

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

    def read(self, found: Mapping[int, Found], *, with_blocks: bool) -> tuple[Receipts, Blocks | None]:
        """Return the receipts of all transactions of tracked wallets in these blocks.

        None is one that is too large, is not of the documented form or contradicts itself. With them are the
        blocks, as EvmNode.whole() returns them, if they are wanted and both fit into one request; else None.
        """
        receipts: Receipts = dict(self._block_receipts(found))
        wanted = (signature for block in found.values() for signature in block.wallets)
        missing = [each for each in wanted if each not in receipts and each not in self._large]
        calls: list[Call] = [("eth_getTransactionReceipt", [signature]) for signature in missing]
        has_many = any(len(block.wallets) >= _MANY_RECEIPTS for block in found.values())
        fits = with_blocks and not has_many and 0 < len(calls) <= MAX_BATCH - len(found)
        blocks = [block_call(number, whole=True) for number in found] if fits else []
        results = self._node.request([*calls, *blocks])
        for signature, result in zip(missing, results, strict=False):
            receipts[signature] = self._receipt(signature, result)
        for block in found.values():
            for signature in block.wallets:
                receipt = receipts.setdefault(signature, None)
                if receipt is not None and receipt.block_hash != block.hash:
                    raise Broken(REPLACED)
        return receipts, self._node.read_whole(found, results[len(calls) :]) if fits else None

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


def _contradiction(receipt: Receipt) -> str | None:
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
