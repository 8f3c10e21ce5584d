"""Trades from an EVM node: spans of blocks, read once for all wallets.

https://ethereum.github.io/execution-apis/; the reasons are in docs/sync.md, "EVM chains from a node".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from wallet_api.chains import Chain
from wallet_api.decoding.amounts import UnusableRow, quantity
from wallet_api.decoding.evm import BlockTransaction, Receipt
from wallet_api.decoding.evm_evidence import EvmEvidence, Question, Unanswered
from wallet_api.decoding.evm_filter import may_have_consented, why_none
from wallet_api.decoding.evm_logs import Logs
from wallet_api.decoding.swaps import LeftOut, Reason, TrackedWallet
from wallet_api.decoding.trades import Decoded
from wallet_api.providers.faults import Broken, ProviderFault
from wallet_api.providers.jsonrpc import Node
from wallet_api.providers.trades.evm_answers import Answers, Case
from wallet_api.providers.trades.evm_node import (
    BEHIND,
    NO_BLOCK,
    NO_RECEIPT,
    NOT_LISTED,
    REPLACED,
    EvmNode,
    Found,
    block_time,
)
from wallet_api.providers.trades.evm_spans import EvmSpans
from wallet_api.providers.trades.source import NOT_AVAILABLE, Block, Chunk, Listed, decode_one

# The blocks with transactions of tracked wallets that are read together.
CHUNK_BLOCKS = 50
# How a block is kept in which not all transactions of a wallet are listed.
_BLOCK = re.compile(r"block ([0-9]+)")


class EvmRpcTrades:
    """eth_getLogs of transfers from and to the wallets, then the receipts, blocks and balances of these."""

    reads_blocks = True

    def __init__(self, chain: Chain, node: Node, confirmations: int) -> None:
        self._chain = chain
        self._node = EvmNode(chain, node)
        self._spans = EvmSpans(chain, self._node)
        self._confirmations = confirmations
        self._answers = Answers(self._node)
        # The hash of the newest block that was read.
        self._head = ""
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
        newest = self._node.newest()
        orphans = self._orphans(known, newest)
        if self._is_read(known, newest, since) and not (orphans or again):
            # The last blocks are read again together with the next new one.
            yield Chunk(until=since)
            return
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
            last, in_span, may_widen = self._spans.read(wallets, first, newest, may_widen)
            for part_end, part in self._parts(in_span, last):
                try:
                    chunk = self._read_part(part_end, part, found, new_from, since)
                except ProviderFault:
                    self._together = max(1, self._together // 2)
                    raise
                self._together = min(2 * self._together, CHUNK_BLOCKS)
                chunk.left_out += _lost(again, found)
                left_out = {(each.wallet, each.tx_signature) for each in chunk.left_out}
                chunk.reread = [row for row in again if (row.wallet, row.tx_signature) not in left_out]
                chunk.is_last, since = part_end == newest, chunk.until or since
                if chunk.is_last:
                    self._head = chunk.blocks[-1].hash
                yield chunk
                found, again = {}, ()
            first = last + 1

    def _orphans(self, known: Sequence[Block], newest: int) -> list[Block]:
        """Return the known blocks that the chain no longer has."""
        if not known:
            return []
        if newest < known[-1].number:
            raise Broken(BEHIND)
        if self._node.block(known[-1].number).hash == known[-1].hash:
            return []
        current = self._node.blocks([block.number for block in known])
        return [block for block, now in zip(known, current, strict=True) if now.hash != block.hash]

    def _is_read(self, known: Sequence[Block], newest: int, since: datetime) -> bool:
        """Return whether there is no new block, and the newest one was read for all wallets."""
        if not known or known[-1].hash != self._head:
            return False
        return known[-1].number == newest and known[-1].created_at == since

    def _first_since(self, since: datetime, known: Sequence[Block], newest: int) -> int:
        """Return the first block at that time or later, or the newest one."""
        before = [block for block in known if block.created_at <= since]
        if before and before[-1].created_at == since:
            return before[-1].number
        low, high = before[-1].number if before else 0, newest
        while low < high:
            middle = (low + high) // 2
            moment = block_time(self._node.block(middle))
            if moment is not None and moment < since:
                low = middle + 1
            else:
                high = middle
        return low

    def _find_again(self, again: Sequence[Listed]) -> dict[int, Found]:
        """Return the blocks of what was left out, without transactions that the node has no more."""
        found: dict[int, Found] = {}
        blocks = {row: int(match[1]) for row in again if (match := _BLOCK.fullmatch(row.tx_signature))}
        for row, number in blocks.items():
            _merge(found, {number: self._spans.read_block(row.wallet, number)})
        places = self._node.places([row.tx_signature for row in again if row not in blocks])
        for row in again:
            if (place := places.get(row.tx_signature)) is not None:
                number, block_hash = place
                wallets = {row.tx_signature: {row.wallet.address: row.wallet}}
                _merge(found, {number: Found(block_hash, wallets)})
        return found

    def _parts(self, found: Mapping[int, Found], last: int) -> Iterator[tuple[int, dict[int, Found]]]:
        """Yield the blocks of a span in parts that are read together, each with its end."""
        numbers = list(found)
        while len(numbers) > self._together:
            part = numbers[: self._together]
            yield max(part), {number: found[number] for number in part}
            numbers = numbers[len(part) :]
        yield last, {number: found[number] for number in numbers}

    def _read_part(
        self,
        last: int,
        part: Mapping[int, Found],
        again: Mapping[int, Found],
        new_from: int,
        since: datetime,
    ) -> Chunk:
        """Return the swaps since then up to the block `last`, with those that were left out before."""
        end = self._node.block(last)
        if last in part and part[last].hash != end.hash:
            raise Broken(REPLACED)
        chunk = self.read(_merge(dict(part), again), new_from)
        # A block whose time cannot be does not stop those after it.
        moment = block_time(end) or since
        chunk.until = moment
        chunk.blocks = [block for block in chunk.blocks if block.number in part and block.number != last]
        signatures = tuple(part[last].wallets) if last in part else ()
        chunk.blocks.append(Block(last, end.hash, moment, signatures))
        chunk.left_out += [
            LeftOut(wallet, f"block {number}", Reason.UNREADABLE, NOT_LISTED, moment, is_signed=False)
            for number, block in (*again.items(), *part.items())
            for wallet in block.unlisted
        ]
        return chunk

    def read(self, found: Mapping[int, Found], new_from: int = 0) -> Chunk:
        """Return the trades in these blocks. Transactions of blocks before `new_from` are not counted."""
        chunk = Chunk()
        cases = self._cases(found, new_from, chunk)
        for case, result in zip(cases, self._decoded(cases), strict=True):
            evidence = case.evidence
            row = Listed(case.wallet, evidence.created_at, evidence.signature)
            chunk.add(row, result, is_new=case.number >= new_from)
        return chunk

    def _decoded(self, cases: Sequence[Case]) -> list[Decoded]:
        """Return what was decoded of the cases. What it depends on is requested for all of them together."""
        done: dict[int, Decoded] = {}
        while len(done) < len(cases):
            wanted: list[tuple[Case, Sequence[Question]]] = []
            for number, case in enumerate(cases):
                try:
                    if number not in done:
                        done[number] = decode_one(case.evidence, case.wallet)
                except Unanswered as missing:
                    wanted.append((case, missing.questions))
            self._answers.fill(wanted)
        return [done[number] for number in range(len(cases))]

    def _cases(self, found: Mapping[int, Found], new_from: int, chunk: Chunk) -> list[Case]:
        """Return the transactions in which a wallet may have exchanged something, and count the others.

        One that cannot be read is left out, and affects no other one.
        """
        receipts = self._node.receipts(found)
        read = {
            signature: _logs(self._chain, receipts[signature])
            for block in found.values()
            for signature in block.wallets
        }
        candidates: dict[int, list[tuple[str, TrackedWallet]]] = {}
        for number, block in found.items():
            for signature, wallets in block.wallets.items():
                logs = read[signature]
                for wallet in wallets.values():
                    why = None if logs is None else why_none(logs, wallet)
                    if why is None:
                        candidates.setdefault(number, []).append((signature, wallet))
                    else:
                        chunk.counts[why] += number >= new_from
        cases: list[Case] = []
        blocks = self._node.whole({number: found[number] for number in candidates})
        for number, pairs in candidates.items():
            block, whole = found[number], blocks[number]
            created_at = None if whole is None else block_time(whole)
            if whole is None or created_at is None:
                for signature, wallet in pairs:
                    chunk.left_out.append(LeftOut(wallet, signature, Reason.UNREADABLE, NO_BLOCK))
                continue
            chunk.blocks.append(Block(number, whole.hash, created_at, tuple(block.wallets)))
            for signature, wallet in pairs:
                logs = read[signature]
                transaction = whole.transaction(signature)
                value = _value(transaction)
                if logs is None or transaction is None or value is None:
                    is_signed = transaction is not None and transaction.is_of(wallet.address)
                    detail = NO_RECEIPT if logs is None or transaction is None else NO_BLOCK
                    left_out = LeftOut(wallet, signature, Reason.UNREADABLE, detail, created_at, is_signed)
                    chunk.left_out.append(left_out)
                else:
                    is_alone = not (
                        wallet in block.unlisted
                        or len(whole.listed) < len(whole.transactions)
                        or whole.names(wallet.address, but=signature)
                        or any(
                            wallet.address in wallets and _may_concern(read[other], wallet)
                            for other, wallets in block.wallets.items()
                            if other != signature
                        )
                    )
                    cases.append(Case(EvmEvidence(logs, value, created_at, is_alone), wallet, number))
        return cases


def _logs(chain: Chain, receipt: Receipt | None) -> Logs | None:
    """Return what is read of a receipt; None if it cannot be read."""
    try:
        return None if receipt is None else Logs.of(chain, receipt)
    except UnusableRow:
        return None


def _value(transaction: BlockTransaction | None) -> int | None:
    """Return the native coin that was sent with a transaction; None if it cannot be read."""
    try:
        return None if transaction is None else quantity(transaction.value)
    except UnusableRow:
        return None


def _may_concern(logs: Logs | None, wallet: TrackedWallet) -> bool:
    """Return whether a transaction may have changed the native coin of a wallet."""
    return logs is None or may_have_consented(logs, wallet)


def _lost(again: Sequence[Listed], found: Mapping[int, Found]) -> list[LeftOut]:
    """Return those that are not found."""
    there = {signature for block in found.values() for signature in block.wallets}
    return [
        LeftOut(row.wallet, row.tx_signature, Reason.LOST, NOT_AVAILABLE, row.created_at, row.is_signed)
        for row in again
        if row.tx_signature not in there and not _BLOCK.fullmatch(row.tx_signature)
    ]


def _merge(found: dict[int, Found], more: Mapping[int, Found]) -> dict[int, Found]:
    """Add what was found of some blocks to `found`, and return it."""
    for number, block in more.items():
        known = found.setdefault(number, Found(block.hash))
        known.unlisted += [wallet for wallet in block.unlisted if wallet not in known.unlisted]
        for signature, wallets in block.wallets.items():
            known.wallets[signature] = known.wallets.get(signature, {}) | wallets
    return found
