"""The door of the decoder, apart from its package: most of the service has no transactions."""

from wallet_api.decoding import evm_evidence, evm_trade, solana, solana_swaps
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.trades import Decoded


def decode(evidence: solana.SolanaEvidence | evm_evidence.EvmEvidence, wallet: TrackedWallet) -> Decoded:
    """Return the trades of `wallet` in a transaction, or why there is none.

    Raise evm_evidence.Unanswered with the questions to a node on which the decision depends.
    """
    if isinstance(evidence, evm_evidence.EvmEvidence):
        return evm_trade.decode_evm(evidence, wallet)
    return solana_swaps.decode_solana(evidence, wallet)
