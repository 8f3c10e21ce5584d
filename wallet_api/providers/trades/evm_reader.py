"""The trades of wallets in blocks of an EVM node: receipts, blocks and balances, decoded.

The reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections.abc import Iterator, Mapping, Sequence

from wallet_api.chains import Chain
from wallet_api.decoding.amounts import UnusableRow, quantity
from wallet_api.decoding.evm import BlockTransaction, ChainBlock, Receipt
from wallet_api.decoding.evm_evidence import EvmEvidence, Question, Unanswered
from wallet_api.decoding.evm_filter import may_have_consented, why_none
from wallet_api.decoding.evm_logs import Logs
from wallet_api.decoding.swaps import LeftOut, Reason, TrackedWallet
from wallet_api.decoding.trades import Decoded
from wallet_api.providers.trades.evm_answers import Answers, Case
from wallet_api.providers.trades.evm_node import NO_BLOCK, EvmNode, Found, block_time
from wallet_api.providers.trades.evm_receipts import NO_RECEIPT, EvmReceipts
from wallet_api.providers.trades.source import Block, Chunk, Listed, decode_one


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
                        index = _index(case.evidence.logs.receipt)
                        done[number] = decode_one(case.evidence, case.wallet, case.number, index)
                except Unanswered as missing:
                    wanted.append((case, missing.questions))
            self._answers.fill(wanted)
        return [done[number] for number in range(len(cases))]

    def _cases(self, found: Mapping[int, Found], new_from: int, chunk: Chunk) -> list[Case]:
        """Return the transactions in which a wallet may have exchanged something, and count the others.

        One that cannot be read is left out, and affects no other one.
        """
        together = self._receipts.together(found)
        receipts, blocks = together or (self._receipts.receipts(found), None)
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
        if blocks is None:
            blocks = self._node.whole({number: found[number] for number in candidates})
        cases: list[Case] = []
        for number, pairs in candidates.items():
            cases += _cases_of(number, found[number], blocks[number], pairs, read, chunk)
        return cases


def _cases_of(
    number: int,
    block: Found,
    whole: ChainBlock | None,
    pairs: Sequence[tuple[str, TrackedWallet]],
    read: Mapping[str, Logs | None],
    chunk: Chunk,
) -> Iterator[Case]:
    """Yield the cases of a block; what cannot be read of it is left out of the chunk."""
    created_at = None if whole is None else block_time(whole)
    if whole is None or created_at is None:
        for signature, wallet in pairs:
            chunk.left_out.append(LeftOut(wallet, signature, Reason.UNREADABLE, NO_BLOCK))
        return
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
            yield Case(EvmEvidence(logs, value, created_at, is_alone), wallet, number)


def _logs(chain: Chain, receipt: Receipt | None) -> Logs | None:
    """Return what is read of a receipt; None if it cannot be read."""
    try:
        return None if receipt is None else Logs.of(chain, receipt)
    except UnusableRow:
        return None


def _index(receipt: Receipt) -> int | None:
    """Return the place of a transaction in its block; None if it is not stated."""
    try:
        return None if receipt.transaction_index is None else quantity(receipt.transaction_index)
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
