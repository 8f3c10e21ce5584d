"""Trades from an EVM node: spans of blocks, read once for all wallets.

https://ethereum.github.io/execution-apis/; the reasons are in docs/sync.md, "EVM chains from a node".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.evm.receipts import ChainBlock
from wallet_api.chain.decoding.swaps import LATE, LeftOut, Reason, TrackedWallet
from wallet_api.chain.providers.faults import Broken, ProviderFault
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.replies import reply_quantity
from wallet_api.chain.providers.trades.evm_head import EvmHead
from wallet_api.chain.providers.trades.evm_node import (
    BEHIND,
    NOT_LISTED,
    REPLACED,
    EvmNode,
    Found,
    block_time,
)
from wallet_api.chain.providers.trades.evm_reader import EvmReader
from wallet_api.chain.providers.trades.evm_spans import EvmSpans, Span
from wallet_api.chain.providers.trades.evm_window import NewestBlocks, Pair, merge, without_known
from wallet_api.chain.providers.trades.source import NOT_AVAILABLE, Block, Chunk, Listed

# The blocks with transactions of tracked wallets that are read together.
CHUNK_BLOCKS = 50
# How a block is kept in which not all transactions of a wallet are listed.
_BLOCK = re.compile(r"block ([0-9]+)")

# Some blocks that are read together, with the last block of their part; and whether it is the last part.
_Part = tuple[ChainBlock, dict[int, Found], bool]


class EvmRpcTrades:
    """eth_getLogs of transfers from and to the wallets, then the receipts, blocks and balances of these.

    The blocks of the last `confirm_seconds` are read again with each new one, since a node may not have all
    of their logs yet.
    """

    reads_blocks = True
    states_final = True

    def __init__(self, chain: Chain, node: Node, confirm_seconds: float) -> None:
        self._node = EvmNode(chain, node)
        self._spans = EvmSpans(chain, self._node)
        self._reader = EvmReader(chain, self._node)
        self._confirm = timedelta(seconds=confirm_seconds)
        self._window = NewestBlocks()
        self._head = EvmHead(self._node, self._spans, self._confirm)
        # The hash of the newest block that was read.
        self._read_until = ""
        # How many blocks are read together: less after a fault, so that a node with many faults is read too.
        self._together = CHUNK_BLOCKS

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Where the node has not got as far as before, raise Broken."""
        self._node.check_chain()
        self._node.measure_pace()
        head = self._head.read(wallets, since, known)
        number, ahead = reply_quantity(head.newest.number), head.ahead
        if known and number < known[-1].number:
            # Behind one address are often several nodes, of which some are a little behind.
            if (block_time(head.newest) or known[-1].created_at) < known[-1].created_at - self._confirm:
                raise Broken(BEHIND)
            yield Chunk(until=since, final=head.final)
            return
        orphans = self._head.orphans(known, head.last)
        if self._is_read(known, number, since) and not (orphans or again):
            # The last blocks are read again together with the next new one.
            yield Chunk(until=since, final=head.final)
            return
        kept = [block for block in known if block not in orphans]
        if orphans:
            since, ahead = min(since, *(block.created_at for block in (kept[-1:] or orphans[:1]))), None
            yield Chunk(orphans=orphans, until=since, is_last=False)
        first = self._head.first(since - self._confirm, kept, number)
        if kept:
            self._window.move(first, kept[-1].number + 1)
        ready = None if ahead is None else [Span(head.newest, ahead, False)]
        parts = self._parts(ready or self._spans.walk(wallets, first, number), number)
        final = head.final
        for chunk in self._chunks(parts, since, again, kept):
            chunk.final, final = final, None
            yield chunk

    def recheck(
        self, wallets: Sequence[TrackedWallet], since: datetime, until: datetime, read: Collection[Pair]
    ) -> Iterator[Chunk]:
        """Yield the trades of the wallets in that time but for those that were `read`, oldest first.

        What a node has left out for longer than its newest blocks are read again is found so. Raise
        ProviderFault.
        """
        self._node.check_chain()
        newest = self._node.newest()
        first, last = (self._head.first(moment, (), newest) for moment in (since, until))
        last = max(first, last - 1)
        for end, part, is_last in self._parts(self._spans.walk(wallets, first, last), last):
            rest = {number: without_known(block, read.__contains__) for number, block in part.items()}
            # They were counted when they were read first.
            chunk = self._reader.read({n: block for n, block in rest.items() if block}, newest + 1)
            chunk.drafts = [one for one in chunk.drafts if (one.tx_signature, one.wallet.address) not in read]
            chunk.blocks.clear()
            chunk.until, chunk.is_last = until if is_last else block_time(end) or since, is_last
            since = chunk.until
            yield chunk

    def _is_read(self, known: Sequence[Block], newest: int, since: datetime) -> bool:
        """Return whether there is no new block, and the newest one was read for all wallets."""
        if not known or known[-1].hash != self._read_until:
            return False
        return known[-1].number == newest and known[-1].created_at == since

    def _parts(self, spans: Iterable[Span], newest: int) -> Iterator[_Part]:
        """Yield the blocks of spans up to the newest one in parts that are read together, oldest first."""
        for span in spans:
            numbers = list(span.found)
            while len(numbers) > self._together:
                part = numbers[: self._together]
                yield self._node.block(part[-1]), {number: span.found[number] for number in part}, False
                numbers = numbers[len(part) :]
            yield span.end, {number: span.found[number] for number in numbers}, span.last >= newest

    def _chunks(
        self, parts: Iterator[_Part], since: datetime, again: Sequence[Listed], kept: Sequence[Block]
    ) -> Iterator[Chunk]:
        """Yield the swaps since then in some parts; the first chunk with those that were left out before."""
        found = self._find_again(again)
        for end, part, is_last in parts:
            if replaced := self._replaced(part, kept):
                yield Chunk(orphans=replaced, until=since, is_last=False)
                kept = [block for block in kept if block not in replaced]
            try:
                chunk = self._read_part(end, part, found, kept, since)
            except ProviderFault:
                self._together = max(1, self._together // 2)
                raise
            self._together = min(2 * self._together, CHUNK_BLOCKS)
            chunk.left_out += _lost(again, found)
            left_out = {(each.wallet, each.tx_signature) for each in chunk.left_out}
            chunk.reread = [row for row in again if (row.wallet, row.tx_signature) not in left_out]
            chunk.is_last, since = is_last, chunk.until or since
            if is_last:
                self._read_until = end.hash
                if kept:
                    chunk.landed = partial(self._window.land, part)
            yield chunk
            found, again = {}, ()

    def _replaced(self, part: Mapping[int, Found], kept: Sequence[Block]) -> list[Block]:
        """Return the known blocks that have another hash now; those after them may be as they were.

        Raise Broken if the node says otherwise in another response.
        """
        others = [block for block in kept if block.number in part and part[block.number].hash != block.hash]
        current = self._node.blocks([block.number for block in others])
        if any(part[old.number].hash != now.hash for old, now in zip(others, current, strict=True)):
            raise Broken(REPLACED)
        return others

    def _find_again(self, again: Sequence[Listed]) -> dict[int, Found]:
        """Return the blocks of what was left out, without transactions that the node has no more."""
        found: dict[int, Found] = {}
        blocks = {row: int(match[1]) for row in again if (match := _BLOCK.fullmatch(row.tx_signature))}
        for row, number in blocks.items():
            merge(found, {number: self._spans.read_block(row.wallet, number)})
        places = self._node.places([row.tx_signature for row in again if row not in blocks])
        for row in again:
            if (place := places.get(row.tx_signature)) is not None:
                number, block_hash = place
                wallets = {row.tx_signature: {row.wallet.address: row.wallet}}
                merge(found, {number: Found(block_hash, wallets)})
        return found

    def _read_part(
        self,
        end: ChainBlock,
        part: Mapping[int, Found],
        again: Mapping[int, Found],
        kept: Sequence[Block],
        since: datetime,
    ) -> Chunk:
        """Return the swaps since then up to the block `end`, with those that were left out before."""
        last = reply_quantity(end.number)
        if last in part and part[last].hash != end.hash:
            raise Broken(REPLACED)
        # Blocks that are read again are not counted again.
        new_from = kept[-1].number + 1 if kept else 0
        new = self._window.unread(part) if kept else dict(part)
        chunk = self._reader.read(merge(new, again), new_from)
        chunk.counts[LATE] += self._window.late(part, new_from)
        # A block whose time cannot be does not stop those after it.
        chunk.until = block_time(end) or since
        chunk.blocks = [block for block in chunk.blocks if block.number in part and block.number != last]
        signatures = tuple(part[last].wallets) if last in part else ()
        chunk.blocks.append(Block(last, end.hash, chunk.until, signatures))
        chunk.left_out += [
            LeftOut(wallet, f"block {number}", Reason.UNREADABLE, NOT_LISTED, chunk.until, is_signed=False)
            for number, block in (*again.items(), *part.items())
            for wallet in block.unlisted
        ]
        return chunk


def _lost(again: Sequence[Listed], found: Mapping[int, Found]) -> list[LeftOut]:
    there = {signature for block in found.values() for signature in block.wallets}
    return [
        LeftOut(row.wallet, row.tx_signature, Reason.LOST, NOT_AVAILABLE, row.created_at, row.is_signed)
        for row in again
        if row.tx_signature not in there and not _BLOCK.fullmatch(row.tx_signature)
    ]
