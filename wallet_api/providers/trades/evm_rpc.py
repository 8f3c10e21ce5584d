"""Trades from an EVM node: spans of blocks, read once for all wallets.

https://ethereum.github.io/execution-apis/; the reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from wallet_api.chains import Chain
from wallet_api.decoding.evm import Receipt
from wallet_api.decoding.evm_moves import Legs, read_legs
from wallet_api.decoding.swaps import FROM_LOGS, NO_TRADE, LeftOut, Reason, TrackedWallet
from wallet_api.providers.faults import Broken, ProviderFault
from wallet_api.providers.jsonrpc import Call, Node
from wallet_api.providers.replies import quantity
from wallet_api.providers.trades.evm_coin import Case, Coins
from wallet_api.providers.trades.evm_node import BEHIND, REPLACED, EvmNode, Found
from wallet_api.providers.trades.source import NOT_AVAILABLE, Block, Chunk, Listed

# The blocks with transactions of tracked wallets that are read together.
CHUNK_BLOCKS = 50


class EvmRpcTrades:
    """eth_getLogs of transfers from and to the wallets, then the receipts, blocks and balances of these."""

    reads_blocks = True

    def __init__(self, chain: Chain, node: Node, confirmations: int) -> None:
        self._chain = chain
        self._node = EvmNode(chain, node)
        self._confirmations = confirmations
        self._coins = Coins(self._node.request)
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
            last, in_span, may_widen = self._node.read_span(wallets, first, newest, may_widen)
            for part_end, part in self._parts(in_span, last):
                try:
                    chunk = self._read_part(part_end, part, found, new_from)
                except ProviderFault:
                    self._together = max(1, self._together // 2)
                    raise
                self._together = min(2 * self._together, CHUNK_BLOCKS)
                chunk.left_out += _lost(again, found)
                left_out = {(each.wallet, each.tx_signature) for each in chunk.left_out}
                chunk.settled = [row for row in again if (row.wallet, row.tx_signature) not in left_out]
                chunk.is_last = part_end == newest
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
            if self._node.block(middle).created_at < since:
                low = middle + 1
            else:
                high = middle
        return low

    def _find_again(self, again: Sequence[Listed]) -> dict[int, Found]:
        """Return the blocks of transactions that were left out, without those that the node has no more."""
        found: dict[int, Found] = {}
        calls: list[Call] = [("eth_getTransactionReceipt", [row.tx_signature]) for row in again]
        for row, result in zip(again, self._node.request(calls), strict=True):
            receipt = result.read(Receipt | None)  # type: ignore[arg-type]
            if receipt is not None:
                block = found.setdefault(quantity(receipt.block_number), Found(receipt.block_hash))
                block.wallets.setdefault(row.tx_signature, {})[row.wallet.address] = row.wallet
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
        self, last: int, part: Mapping[int, Found], again: Mapping[int, Found], new_from: int
    ) -> Chunk:
        """Return the swaps up to the block `last`, with those that were left out before."""
        end = self._node.block(last)
        if last in part and part[last].hash != end.hash:
            raise Broken(REPLACED)
        chunk = self._read({**again, **part}, new_from)
        chunk.until = end.created_at
        chunk.blocks = [block for block in chunk.blocks if block.number in part and block.number != last]
        signatures = tuple(part[last].wallets) if last in part else ()
        chunk.blocks.append(Block(last, end.hash, end.created_at, signatures))
        return chunk

    def _read(self, found: Mapping[int, Found], new_from: int) -> Chunk:
        """Return the swaps in these blocks. Transactions of blocks before `new_from` are not counted."""
        chunk = Chunk()
        cases = self._cases(found, new_from, chunk)
        stable = self._chain.stable_mints
        mints = sorted(stable.union(*(case.legs.mints for case in cases))) if cases else []
        decimals = self._node.decimals(mints)
        for case, outcome in zip(cases, self._coins.read(cases, decimals), strict=True):
            chunk.drafts += outcome.drafts
            chunk.swaps += outcome.swaps
            if isinstance(outcome.why, Reason):
                signature = case.legs.receipt.transaction_hash
                left_out = LeftOut(case.legs.wallet, signature, outcome.why, outcome.detail, case.created_at)
                chunk.left_out.append(left_out)
            elif case.number >= new_from:
                chunk.counts[FROM_LOGS] += outcome.from_logs
                if outcome.why is not None:
                    chunk.counts[outcome.why] += 1
        return chunk

    def _cases(self, found: Mapping[int, Found], new_from: int, chunk: Chunk) -> list[Case]:
        """Return the transactions in which a wallet may have exchanged something, and count the others."""
        receipts = self._node.receipts(found)
        legs: dict[int, list[Legs]] = {}
        for number, block in found.items():
            for signature, wallets in block.wallets.items():
                read = [read_legs(wallet, receipts[signature], 0) for wallet in wallets.values()]
                candidates = [one for one in read if one.may_exchange]
                chunk.counts[NO_TRADE] += (len(read) - len(candidates)) * (number >= new_from)
                if candidates:
                    legs.setdefault(number, []).extend(candidates)
        cases: list[Case] = []
        for (number, candidates), whole in zip(
            legs.items(), self._node.blocks(legs, whole=True), strict=True
        ):
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


def _has_other(block: Found, signature: str, wallet: TrackedWallet) -> bool:
    """Return whether another transaction of the block has transfers of the wallet."""
    return any(wallet.address in wallets for other, wallets in block.wallets.items() if other != signature)


def _lost(again: Sequence[Listed], found: Mapping[int, Found]) -> list[LeftOut]:
    """Return those that are not found."""
    there = {signature for block in found.values() for signature in block.wallets}
    return [
        LeftOut(row.wallet, row.tx_signature, Reason.LOST, NOT_AVAILABLE, row.created_at)
        for row in again
        if row.tx_signature not in there
    ]
