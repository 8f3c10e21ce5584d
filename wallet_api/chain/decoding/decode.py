"""The door of the decoder, apart from its package: most of the service has no transactions.

A decision may depend on what a node has not returned yet, which only the decision finds out. It then raises
Unanswered with questions. The caller adds their answers to the evidence, and decodes again.
"""

from wallet_api.chain.decoding.evm.decode import decode_evm
from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.solana.decode import decode_solana
from wallet_api.chain.decoding.solana.transactions import SolanaEvidence
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.trades import Decoded


def decode(evidence: SolanaEvidence | EvmEvidence, wallet: TrackedWallet) -> Decoded:
    """Return the trades of `wallet` in a transaction, or why there is none.

    Raise Unanswered with the questions to a node on which the decision depends.
    """
    if isinstance(evidence, EvmEvidence):
        return decode_evm(evidence, wallet)
    return decode_solana(evidence, wallet)
