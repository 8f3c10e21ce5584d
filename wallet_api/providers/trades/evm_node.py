"""What is read of an EVM node: spans of logs, receipts and blocks, within what the node allows.

https://ethereum.github.io/execution-apis/
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wallet_api.chains import Chain
from wallet_api.decoding.evm import (
    TRANSFER,
    ChainBlock,
    Log,
    Receipt,
    address_of,
    topic_of,
)
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.providers.evm_tokens import EvmTokens, check_chain, read_quantity
from wallet_api.providers.faults import Broken, Malformed, Rejected, TimedOut, TooLarge
from wallet_api.providers.jsonrpc import NO_METHOD, Call, Node, Result
from wallet_api.providers.replies import quantity

# geth's limit of the values in a position of a filter.
_MOST_TOPICS = 1000
_FIRST_SPAN = 1000
_LONGEST_SPAN = 10_000
# A span with fewer logs is doubled.
_FEW_LOGS = 500
# From so many transactions on, all receipts of a block are requested at once.
_MANY_RECEIPTS = 4
# The calls under one deadline.
_CALLS = 50
_TOO_MANY_TOPICS = re.compile(r"topic|filters|addresses", re.IGNORECASE)

BEHIND = "the node has not got as far"
REPLACED = "a block was replaced while it was read"


@dataclass(slots=True)
class Found:
    """A block with transactions of tracked wallets: its hash, and the wallets by transaction and address."""

    hash: str
    wallets: dict[str, dict[str, TrackedWallet]] = field(default_factory=dict)


class EvmNode:
    """A node of one chain. It remembers the limits that the node has shown."""

    def __init__(self, chain: Chain, node: Node) -> None:
        self._chain = chain
        self._node = node
        self._tokens = EvmTokens(node)
        self._chain_is_checked = False
        # What the node allows: blocks in a span, and wallets in a request.
        self._span = _FIRST_SPAN
        self._topics = _MOST_TOPICS
        self._has_block_receipts = True

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

    def blocks(self, numbers: Iterable[int], *, whole: bool = False) -> list[ChainBlock]:
        """Return blocks, with their transactions if `whole`. Raise Broken if the node does not have one."""
        results = self.request([("eth_getBlockByNumber", [hex(number), whole]) for number in numbers])
        blocks: list[ChainBlock] = []
        for result in results:
            block = result.read(ChainBlock | None)  # type: ignore[arg-type]
            if block is None:
                raise Broken(BEHIND)
            blocks.append(block)
        return blocks

    def read_span(
        self, wallets: Sequence[TrackedWallet], first: int, newest: int, may_widen: bool
    ) -> tuple[int, dict[int, Found], bool]:
        """Return the last block of a span from `first` on, what is found in it, and whether it may widen.

        It is as long as the node allows.
        """
        while (logs := self._logs(wallets, first, last := min(newest, first + self._span - 1))) is None:
            may_widen = False
            self._span = max(1, (last - first + 1) // 2)
        if may_widen and len(logs) < _FEW_LOGS and last < newest:
            self._span = min(2 * self._span, _LONGEST_SPAN)
        return last, _find(wallets, logs), may_widen

    def _logs(self, wallets: Sequence[TrackedWallet], first: int, last: int) -> list[Log] | None:
        """Return the transfers from and to the wallets; None if the span is too long for the node.

        A node that has not got as far as `last` would return nothing for it, so it must return that block.
        """
        logs: list[Log] = []
        span = {"fromBlock": hex(first), "toBlock": hex(last)}
        start = 0
        while start < len(wallets):
            values = [topic_of(wallet.address) for wallet in wallets[start : start + self._topics]]
            calls: list[Call] = [
                ("eth_getLogs", [span | {"topics": [TRANSFER, *place, values]}]) for place in ([], [None])
            ]
            try:
                *results, end = self.request([*calls, ("eth_getBlockByNumber", [hex(last), False])])
            except (TooLarge, TimedOut, Rejected):
                self._span = max(1, self._span // 2)
                if first == last:
                    raise
                return None
            errors = [result.error for result in results if result.error is not None]
            if errors and first < last and not _TOO_MANY_TOPICS.search(errors[0].message):
                return None
            if errors:
                if len(values) == 1:
                    raise errors[0].fault
                self._topics = len(values) // 2
                continue
            if end.read(ChainBlock | None) is None:  # type: ignore[arg-type]
                raise Broken(BEHIND)
            logs += (log for result in results for log in result.read(list[Log]) if not log.removed)
            start += len(values)
        return logs

    def receipts(self, found: Mapping[int, Found]) -> dict[str, Receipt]:
        """Return the receipts of all transactions of tracked wallets in these blocks."""
        receipts: dict[str, Receipt] = {}
        full = [number for number in found if len(found[number].wallets) >= _MANY_RECEIPTS]
        if full and self._has_block_receipts:
            results = self.request([("eth_getBlockReceipts", [hex(number)]) for number in full])
            self._has_block_receipts = all(
                result.error is None or result.error.code != NO_METHOD for result in results
            )
            for result in results if self._has_block_receipts else ():
                receipts |= {one.transaction_hash: one for one in result.read(list[Receipt])}
        wanted = [signature for block in found.values() for signature in block.wallets]
        missing = [signature for signature in wanted if signature not in receipts]
        results = self.request([("eth_getTransactionReceipt", [signature]) for signature in missing])
        for signature, result in zip(missing, results, strict=True):
            receipt = result.read(Receipt | None)  # type: ignore[arg-type]
            if receipt is None:
                raise Broken(BEHIND)
            receipts[signature] = receipt
        for block in found.values():
            if any(receipts[signature].block_hash != block.hash for signature in block.wallets):
                raise Broken(REPLACED)
        return receipts

    def decimals(self, mints: Sequence[str]) -> dict[str, int]:
        """Return the decimals of tokens, without those that are unknown."""
        with self._node.fetcher.begin(self._chain.name) as fetch:
            return dict(self._tokens.decimals(fetch, mints))

    def request(self, calls: Sequence[Call]) -> list[Result]:
        """Return the results of the calls, errors included. Raise ProviderFault."""
        results: list[Result] = []
        for start in range(0, len(calls), _CALLS):
            with self._node.fetcher.begin(self._chain.name) as fetch:
                results += self._node.call(fetch, calls[start : start + _CALLS])
        return results


def _find(wallets: Sequence[TrackedWallet], logs: Sequence[Log]) -> dict[int, Found]:
    """Return the blocks of the transfers, in their order."""
    tracked = {wallet.address: wallet for wallet in wallets}
    found: dict[int, Found] = {}
    for log in sorted(logs, key=lambda log: quantity(log.block_number)):
        # An NFT has a fourth topic.
        if len(log.topics) != 3:
            continue
        block = found.setdefault(quantity(log.block_number), Found(log.block_hash))
        if block.hash != log.block_hash:
            raise Broken(REPLACED)
        for address in map(address_of, log.topics[1:]):
            if address in tracked:
                block.wallets.setdefault(log.transaction_hash, {})[address] = tracked[address]
    # A node that ignores the filter may as well leave out logs.
    if any(not block.wallets for block in found.values()):
        raise Malformed("a log that was not requested")
    return found
