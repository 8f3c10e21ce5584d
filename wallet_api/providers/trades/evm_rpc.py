"""Trades from an EVM node: spans of blocks, read once for all wallets.

https://ethereum.github.io/execution-apis/; the reasons are in docs/sync.md, "EVM chains from a node".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from wallet_api.chains import Chain
from wallet_api.providers.evm_tokens import EvmTokens, check_chain, read_quantity
from wallet_api.providers.faults import Broken, Malformed, Rejected, TimedOut, TooLarge
from wallet_api.providers.jsonrpc import Call, Node, Result
from wallet_api.providers.trades.evm_chain import (
    TRANSFER,
    ChainBlock,
    Log,
    Receipt,
    address_of,
    quantity,
    topic_of,
)
from wallet_api.providers.trades.evm_coin import NO_METHOD, Case, Coins
from wallet_api.providers.trades.evm_moves import Legs, read_legs
from wallet_api.providers.trades.swaps import (
    FROM_LOGS,
    NO_TRADE,
    Block,
    Chunk,
    LeftOut,
    Listed,
    Reason,
    TrackedWallet,
)

# The blocks with transactions of tracked wallets that are read together.
CHUNK_BLOCKS = 50

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

NOT_AVAILABLE = "the node no longer has the transaction"
BEHIND = "the node has not got as far"
REPLACED = "a block was replaced while it was read"


@dataclass(slots=True)
class _Found:
    """A block with transactions of tracked wallets: its hash, and the wallets by transaction and address."""

    hash: str
    wallets: dict[str, dict[str, TrackedWallet]] = field(default_factory=dict)


class EvmRpcTrades:
    """eth_getLogs of transfers from and to the wallets, then the receipts, blocks and balances of these."""

    name = "rpc"
    reads_blocks = True

    def __init__(self, chain: Chain, node: Node, confirmations: int) -> None:
        self._chain = chain
        self._node = node
        self._confirmations = confirmations
        self._tokens = EvmTokens(node)
        self._coins = Coins(self._request)
        self._chain_is_checked = False
        # What the node allows: blocks in a span, and wallets in a request.
        self._span = _FIRST_SPAN
        self._topics = _MOST_TOPICS
        self._has_block_receipts = True

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Where the node has not got as far as before, raise Broken."""
        self._check_chain()
        newest = self._newest()
        orphans = self._orphans(known, newest)
        kept = [block for block in known if block not in orphans]
        if orphans:
            since = min(since, *(block.created_at for block in (kept[-1:] or orphans[:1])))
            yield Chunk(orphans=orphans, until=since, is_last=False)
        first = max(0, self._first_since(since, kept, newest) - self._confirmations)
        # Blocks that are read again are not counted again.
        new_from = kept[-1].number + 1 if kept else 0
        found = self._find_again(again)
        may_widen = True
        while first <= newest:
            last, in_span, may_widen = self._read_span(wallets, first, newest, may_widen)
            for part_end, part in _parts(in_span, last):
                end = self._block(part_end)
                if part_end in part and part[part_end].hash != end.hash:
                    raise Broken(REPLACED)
                chunk = self._read(found | part, new_from)
                chunk.left_out += _lost(again, found)
                left_out = {each.tx_signature for each in chunk.left_out}
                chunk.settled = [row for row in again if row.tx_signature not in left_out]
                chunk.blocks = [block for block in chunk.blocks if block.number in part]
                if part_end not in {block.number for block in chunk.blocks}:
                    chunk.blocks.append(Block(part_end, end.hash, end.created_at))
                chunk.until, chunk.is_last = end.created_at, part_end == newest
                yield chunk
                found, again = {}, ()
            first = last + 1

    def close(self) -> None:
        self._node.fetcher.session.close()

    def _orphans(self, known: Sequence[Block], newest: int) -> list[Block]:
        """Return the known blocks that the chain no longer has."""
        if not known:
            return []
        if newest < known[-1].number:
            raise Broken(BEHIND)
        if self._block(known[-1].number).hash == known[-1].hash:
            return []
        current = self._blocks([block.number for block in known])
        return [block for block, now in zip(known, current, strict=True) if now.hash != block.hash]

    def _first_since(self, since: datetime, known: Sequence[Block], newest: int) -> int:
        """Return the first block at that time or later, or the newest one."""
        before = [block for block in known if block.created_at <= since]
        if before and before[-1].created_at == since:
            return before[-1].number
        low, high = before[-1].number if before else 0, newest
        while low < high:
            middle = (low + high) // 2
            if self._block(middle).created_at < since:
                low = middle + 1
            else:
                high = middle
        return low

    def _read_span(
        self, wallets: Sequence[TrackedWallet], first: int, newest: int, may_widen: bool
    ) -> tuple[int, dict[int, _Found], bool]:
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
                *results, end = self._request([*calls, ("eth_getBlockByNumber", [hex(last), False])])
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

    def _find_again(self, again: Sequence[Listed]) -> dict[int, _Found]:
        """Return the blocks of transactions that were left out, without those that the node has no more."""
        found: dict[int, _Found] = {}
        calls: list[Call] = [("eth_getTransactionReceipt", [row.tx_signature]) for row in again]
        for row, result in zip(again, self._request(calls), strict=True):
            receipt = result.read(Receipt | None)  # type: ignore[arg-type]
            if receipt is not None:
                block = found.setdefault(quantity(receipt.block_number), _Found(receipt.block_hash))
                block.wallets.setdefault(row.tx_signature, {})[row.wallet.address] = row.wallet
        return found

    def _read(self, found: Mapping[int, _Found], new_from: int) -> Chunk:
        """Return the swaps in these blocks. Transactions of blocks before `new_from` are not counted."""
        chunk = Chunk()
        cases = self._cases(found, new_from, chunk)
        stable = self._chain.stable_mints
        mints = sorted(stable.union(*(case.legs.mints for case in cases))) if cases else []
        with self._node.fetcher.begin(self._chain.name) as fetch:
            facts = self._tokens.facts(fetch, mints)
        decimals = {mint: fact.decimals for mint, fact in facts.items()}
        for case, outcome in zip(cases, self._coins.read(cases, decimals), strict=True):
            chunk.swaps += outcome.swaps
            if outcome.left_out is not None:
                signature = case.legs.receipt.transaction_hash
                left_out = LeftOut(case.legs.wallet, signature, *outcome.left_out, case.created_at)
                chunk.left_out.append(left_out)
            elif case.number >= new_from:
                chunk.counts[FROM_LOGS] += outcome.from_logs
                chunk.counts[NO_TRADE] += not outcome.swaps
        return chunk

    def _cases(self, found: Mapping[int, _Found], new_from: int, chunk: Chunk) -> list[Case]:
        """Return the transactions in which a wallet may have exchanged something, and count the others."""
        receipts = self._receipts(found)
        legs: dict[int, list[Legs]] = {}
        for number, block in found.items():
            for signature, wallets in block.wallets.items():
                read = [read_legs(wallet, receipts[signature], 0) for wallet in wallets.values()]
                candidates = [one for one in read if one.may_exchange]
                chunk.counts[NO_TRADE] += (len(read) - len(candidates)) * (number >= new_from)
                if candidates:
                    legs.setdefault(number, []).extend(candidates)
        cases: list[Case] = []
        for (number, candidates), whole in zip(legs.items(), self._blocks(legs, whole=True), strict=True):
            if whole.hash != found[number].hash:
                raise Broken(REPLACED)
            signatures = tuple(found[number].wallets)
            chunk.blocks.append(Block(number, whole.hash, whole.created_at, signatures))
            for one in candidates:
                signature = one.receipt.transaction_hash
                with_value = read_legs(one.wallet, one.receipt, whole.value_of(signature))
                has_other = _has_other(found[number], signature, one.wallet)
                cases.append(Case(with_value, whole, has_other))
        return cases

    def _receipts(self, found: Mapping[int, _Found]) -> dict[str, Receipt]:
        """Return the receipts of all transactions of tracked wallets in these blocks."""
        receipts: dict[str, Receipt] = {}
        full = [number for number in found if len(found[number].wallets) >= _MANY_RECEIPTS]
        if full and self._has_block_receipts:
            results = self._request([("eth_getBlockReceipts", [hex(number)]) for number in full])
            self._has_block_receipts = all(
                result.error is None or result.error.code != NO_METHOD for result in results
            )
            for result in results if self._has_block_receipts else ():
                receipts |= {one.transaction_hash: one for one in result.read(list[Receipt])}
        wanted = [signature for block in found.values() for signature in block.wallets]
        missing = [signature for signature in wanted if signature not in receipts]
        results = self._request([("eth_getTransactionReceipt", [signature]) for signature in missing])
        for signature, result in zip(missing, results, strict=True):
            receipt = result.read(Receipt | None)  # type: ignore[arg-type]
            if receipt is None:
                raise Broken(BEHIND)
            receipts[signature] = receipt
        for block in found.values():
            if any(receipts[signature].block_hash != block.hash for signature in block.wallets):
                raise Broken(REPLACED)
        return receipts

    def _check_chain(self) -> None:
        if not self._chain_is_checked:
            with self._node.fetcher.begin(self._chain.name) as fetch:
                check_chain(self._chain, self._node, fetch)
            self._chain_is_checked = True

    def _newest(self) -> int:
        (result,) = self._request([("eth_blockNumber", [])])
        return read_quantity(result)

    def _block(self, number: int) -> ChainBlock:
        """Return a block without its transactions. Raise Broken if the node does not have it."""
        (block,) = self._blocks([number])
        return block

    def _blocks(self, numbers: Iterable[int], *, whole: bool = False) -> list[ChainBlock]:
        results = self._request([("eth_getBlockByNumber", [hex(number), whole]) for number in numbers])
        blocks: list[ChainBlock] = []
        for result in results:
            block = result.read(ChainBlock | None)  # type: ignore[arg-type]
            if block is None:
                raise Broken(BEHIND)
            blocks.append(block)
        return blocks

    def _request(self, calls: Sequence[Call]) -> list[Result]:
        results: list[Result] = []
        for start in range(0, len(calls), _CALLS):
            with self._node.fetcher.begin(self._chain.name) as fetch:
                results += self._node.call(fetch, calls[start : start + _CALLS])
        return results


def _find(wallets: Sequence[TrackedWallet], logs: Sequence[Log]) -> dict[int, _Found]:
    """Return the blocks of the transfers, in their order."""
    tracked = {wallet.address: wallet for wallet in wallets}
    found: dict[int, _Found] = {}
    for log in sorted(logs, key=lambda log: quantity(log.block_number)):
        # An NFT has a fourth topic.
        if len(log.topics) != 3:
            continue
        block = found.setdefault(quantity(log.block_number), _Found(log.block_hash))
        if block.hash != log.block_hash:
            raise Broken(REPLACED)
        for address in map(address_of, log.topics[1:]):
            if address in tracked:
                block.wallets.setdefault(log.transaction_hash, {})[address] = tracked[address]
    if any(not block.wallets for block in found.values()):
        raise Malformed("a log that was not requested")
    return found


def _parts(found: Mapping[int, _Found], last: int) -> Iterator[tuple[int, dict[int, _Found]]]:
    """Yield the blocks of a span in parts that are not too large to be read at once, each with its end."""
    numbers = list(found)
    for start in range(0, max(1, len(numbers)), CHUNK_BLOCKS):
        part = {number: found[number] for number in numbers[start : start + CHUNK_BLOCKS]}
        yield (max(part) if start + CHUNK_BLOCKS < len(numbers) else last), part


def _has_other(block: _Found, signature: str, wallet: TrackedWallet) -> bool:
    """Return whether another transaction of the block has transfers of the wallet."""
    return any(wallet.address in wallets for other, wallets in block.wallets.items() if other != signature)


def _lost(again: Sequence[Listed], found: Mapping[int, _Found]) -> list[LeftOut]:
    """Return those that are not found."""
    there = {signature for block in found.values() for signature in block.wallets}
    return [
        LeftOut(row.wallet, row.tx_signature, Reason.LOST, NOT_AVAILABLE, row.created_at)
        for row in again
        if row.tx_signature not in there
    ]
