"""What wallets sent beside a trade in its block: a failed transaction or an approval costs its fee alone."""

from collections.abc import Mapping, Sequence

from wallet_api.chain.decoding.amounts import UnusableRow, quantity
from wallet_api.chain.decoding.evm.receipts import BlockTransaction, Receipt
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.trades.evm_node import Blocks, Found
from wallet_api.chain.providers.trades.evm_receipts import EvmReceipts

Candidates = dict[int, list[tuple[str, TrackedWallet]]]
"""By block the transactions in which a wallet may have exchanged something."""


def fees_beside(
    receipts: EvmReceipts, found: Mapping[int, Found], blocks: Blocks, candidates: Candidates
) -> dict[str, int]:
    """Return the fees of transactions that cost nothing else, which wallets sent beside candidates.

    Raise ProviderFault.
    """
    beside: dict[int, Found] = {}
    sent: dict[str, BlockTransaction] = {}
    for number, pairs in candidates.items():
        for one, wallet in _sent_beside(blocks, number, pairs):
            beside.setdefault(number, Found(found[number].hash)).wallets[one.hash] = {wallet.address: wallet}
            sent[one.hash] = one
    read = receipts.receipts(beside) if beside else {}
    # Beside others, where the receipts of a whole block were read.
    fees = {signature: _fee_alone(read[signature], one) for signature, one in sent.items()}
    return {signature: fee for signature, fee in fees.items() if fee is not None}


def _sent_beside(
    blocks: Blocks, number: int, pairs: Sequence[tuple[str, TrackedWallet]]
) -> list[tuple[BlockTransaction, TrackedWallet]]:
    """Return what the wallets of these pairs have sent in a block, but for these."""
    whole = blocks[number]
    wallets = {wallet.address: wallet for _, wallet in pairs}
    own = {(signature, wallet.address) for signature, wallet in pairs}
    return [
        (one, wallets[sender])
        for one in (() if whole is None else whole.listed)
        if (sender := one.sender.lower()) in wallets and (one.hash, sender) not in own
    ]


def _fee_alone(receipt: Receipt | None, one: BlockTransaction) -> int | None:
    """Return the fee of a transaction that cost nothing else; None of another one."""
    try:
        is_all = receipt is not None and receipt.costs_its_fee_alone(quantity(one.value))
        fee = receipt.fee if receipt is not None else None
    except UnusableRow:
        return None
    return fee if is_all else None
