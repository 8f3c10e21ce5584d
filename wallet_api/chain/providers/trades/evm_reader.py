"""The trades of wallets in blocks of an EVM node: receipts, blocks and balances, decoded.

The reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, quantity
from wallet_api.chain.decoding.evm.decode import may_have_consented, why_none
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Question, Unanswered
from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.evm.receipts import BlockTransaction, ChainBlock, Receipt
from wallet_api.chain.decoding.swaps import LeftOut, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import Decoded
from wallet_api.chain.providers.trades.evm_answers import Answers
from wallet_api.chain.providers.trades.evm_node import NO_BLOCK, Blocks, EvmNode, Found, block_time
from wallet_api.chain.providers.trades.evm_receipts import NO_RECEIPT, EvmReceipts
from wallet_api.chain.providers.trades.source import Block, Chunk, Listed, decode_one

# By block the transactions in which a wallet may have exchanged something.
_Candidates = dict[int, list[tuple[str, TrackedWallet]]]


class EvmReader:
    """Reads what wallets did in the blocks in which transfers of theirs were found."""

    def __init__(self, chain: Chain, node: EvmNode) -> None:
        self._chain = chain
        self._node = node
        self._receipts = EvmReceipts(chain, node)
        self._answers = Answers(node)

    def read(self, found: Mapping[int, Found], new_from: int = 0) -> Chunk:
        """Return the trades in these blocks. Transactions of blocks before `new_from` are not counted."""
        chunk = Chunk()
        cases = self._cases(found, new_from, chunk)
        for case, result in zip(cases, self._decoded(cases), strict=True):
            row = Listed(case.wallet, case.created_at, case.signature)
            chunk.add(row, result, is_new=case.number >= new_from)
        return chunk

    def _decoded(self, cases: Sequence[EvmEvidence]) -> list[Decoded]:
        """Return what was decoded of the cases. What it depends on is requested for all of them together."""
        done: dict[int, Decoded] = {}
        while len(done) < len(cases):
            wanted: list[tuple[EvmEvidence, Sequence[Question]]] = []
            for number, case in enumerate(cases):
                try:
                    if number not in done:
                        index = _number(case.logs.receipt.transaction_index)
                        done[number] = decode_one(case, case.number, index)
                except Unanswered as missing:
                    wanted.append((case, missing.questions))
            self._answers.fill(wanted)
        return [done[number] for number in range(len(cases))]

    def _cases(self, found: Mapping[int, Found], new_from: int, chunk: Chunk) -> list[EvmEvidence]:
        """Return the transactions in which a wallet may have exchanged something, and count the others.

        One that cannot be read is left out, and affects no other one.
        """
        receipts, blocks = self._receipts.read(found, with_blocks=True)
        read = {
            signature: _logs(self._chain, receipts[signature])
            for block in found.values()
            for signature in block.wallets
        }
        candidates: _Candidates = {}
        for number, block in found.items():
            for signature, wallets in block.wallets.items():
                logs = read[signature]
                for wallet in wallets.values():
                    why = None if logs is None else why_none(logs, wallet)
                    if why is None:
                        candidates.setdefault(number, []).append((signature, wallet))
                    else:
                        chunk.counts[why] += number >= new_from
        if blocks is None:
            blocks = self._node.whole({number: found[number] for number in candidates})
        fees = self._fees_beside(found, blocks, candidates)
        cases: list[EvmEvidence] = []
        for number, pairs in candidates.items():
            cases += _Read(number, found[number], blocks[number], read, fees).cases(pairs, chunk)
        return cases

    def _fees_beside(
        self, found: Mapping[int, Found], blocks: Blocks, candidates: _Candidates
    ) -> dict[str, int]:
        """Return the fees of what wallets sent beside candidates and cost nothing else.

        A failed transaction or an approval costs its fee alone. Raise ProviderFault.
        """
        beside: dict[int, Found] = {}
        sent: dict[str, BlockTransaction] = {}
        for number, pairs in candidates.items():
            whole = blocks[number]
            wallets = {wallet.address: wallet for _, wallet in pairs}
            own = {(signature, wallet.address) for signature, wallet in pairs}
            for one in () if whole is None else whole.listed:
                sender = one.sender.lower()
                if sender in wallets and (one.hash, sender) not in own:
                    block = beside.setdefault(number, Found(found[number].hash))
                    block.wallets[one.hash] = {sender: wallets[sender]}
                    sent[one.hash] = one
        read, _ = self._receipts.read(beside, with_blocks=False)
        # Beside others, where the receipts of a whole block were read.
        fees = {signature: _fee_alone(read[signature], one) for signature, one in sent.items()}
        return {signature: fee for signature, fee in fees.items() if fee is not None}


@dataclass(frozen=True, slots=True)
class _Read:
    """A block with transactions of wallets: what is read of it, by transaction, and what cost a fee alone."""

    number: int
    found: Found
    whole: ChainBlock | None
    logs: Mapping[str, Logs | None]
    fees: Mapping[str, int]

    def cases(self, pairs: Sequence[tuple[str, TrackedWallet]], chunk: Chunk) -> Iterator[EvmEvidence]:
        """Yield the cases of these pairs; what cannot be read is left out of the chunk."""
        created_at = None if self.whole is None else block_time(self.whole)
        if self.whole is None or created_at is None:
            for signature, wallet in pairs:
                chunk.left_out.append(LeftOut(wallet, signature, Reason.UNREADABLE, NO_BLOCK))
            return
        chunk.blocks.append(Block(self.number, self.whole.hash, created_at, tuple(self.found.wallets)))
        for signature, wallet in pairs:
            logs = self.logs[signature]
            transaction = self.whole.transaction(signature)
            value = None if transaction is None else _number(transaction.value)
            if logs is None or transaction is None or value is None:
                is_signed = transaction is not None and transaction.is_of(wallet.address)
                detail = NO_RECEIPT if logs is None or transaction is None else NO_BLOCK
                left_out = LeftOut(wallet, signature, Reason.UNREADABLE, detail, created_at, is_signed)
                chunk.left_out.append(left_out)
            else:
                # What the wallet has sent beside it and cost its fee alone.
                sent = (one.hash for one in self.whole.listed if one.sender.lower() == wallet.address)
                own = {each: self.fees[each] for each in sent if each in self.fees}
                is_alone = self._is_alone(self.whole, wallet, {signature, *own})
                fees = sum(own.values())
                yield EvmEvidence(wallet, logs, value, created_at, self.number, is_alone, fees)

    def _is_alone(self, whole: ChainBlock, wallet: TrackedWallet, but: Collection[str]) -> bool:
        """Return whether nothing else than some transactions may have changed the coin of a wallet."""
        return not (
            wallet in self.found.unlisted
            or len(whole.listed) < len(whole.transactions)
            or whole.names(wallet.address, but=but)
            or any(
                wallet.address in wallets
                and ((logs := self.logs[other]) is None or may_have_consented(logs, wallet))
                for other, wallets in self.found.wallets.items()
                if other not in but
            )
        )


def _logs(chain: Chain, receipt: Receipt | None) -> Logs | None:
    """Return what is read of a receipt; None if it cannot be read."""
    try:
        return None if receipt is None else Logs.from_receipt(chain, receipt)
    except UnusableRow:
        return None


def _number(text: str | None) -> int | None:
    """Return a hexadecimal number; None if it is not stated, or cannot be read."""
    try:
        return None if text is None else quantity(text)
    except UnusableRow:
        return None


def _fee_alone(receipt: Receipt | None, one: BlockTransaction) -> int | None:
    try:
        if receipt is None or not receipt.costs_its_fee_alone(quantity(one.value)):
            return None
        fee = receipt.fee
    except UnusableRow:
        return None
    return fee
